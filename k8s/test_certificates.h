// For tests: an authority and certificates of it, made on the spot.

#ifndef K8S_TEST_CERTIFICATES_H_
#define K8S_TEST_CERTIFICATES_H_

#include <memory>
#include <string>

namespace gpubinder {

struct TestCertificate {
  std::string certificate, key;  // PEM
};

class TestAuthority {
 public:
  TestAuthority();
  ~TestAuthority();

  std::string pem() const;
  // `alternative_names` in OpenSSL's form: "IP:127.0.0.1", "DNS:api.test";
  // empty: none.
  TestCertificate Issue(const std::string& common_name,
                        const std::string& alternative_names);

 private:
  struct Keys;
  std::unique_ptr<Keys> keys_;
};

}  // namespace gpubinder

#endif  // K8S_TEST_CERTIFICATES_H_
