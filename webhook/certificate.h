// The pair of certificate and key that the admission server shows, from a
// directory in the form of a mounted Secret: tls.crt (the certificate, then
// those between it and the authority) and tls.key, both PEM.
//
//   absl::StatusOr<std::unique_ptr<ServingCertificate>> pair =
//       ServingCertificate::Open("/etc/gpubinder/tls", absl::Now);
//   SSL_new((*pair)->context());
//   (*pair)->Look();  // now and then
//
// kubelet changes a Secret by swapping the link `..data`. Both files are read
// below what it points to at one moment, so that they are of one Secret; names
// are looked up anew each time, and no descriptor is kept.

#ifndef WEBHOOK_CERTIFICATE_H_
#define WEBHOOK_CERTIFICATE_H_

#include <openssl/types.h>

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace gpubinder {

struct PairText {
  std::string certificate, key;  // PEM
  bool operator==(const PairText&) const = default;
};

// Of one moment. kUnavailable: a file is not there or cannot be read, or is
// larger than 1 MiB.
absl::StatusOr<PairText> ReadPair(const std::string& directory);

struct FreeContext {
  void operator()(SSL_CTX* context) const;
};

struct Validity {
  absl::Time from, to;
};

// A pair that fits together.
struct TlsPair {
  // TLS 1.2 and 1.3, forward-secret authenticated ciphers, ALPN http/1.1; no
  // renegotiation, no resumption.
  std::unique_ptr<SSL_CTX, FreeContext> context;
  Validity validity;
};

// Costs a few signatures. kInvalidArgument: what is no certificate or no key
// (an encrypted one too), does not belong together, is weaker than OpenSSL's
// level 2, or has no subject alternative name, without which no API server
// accepts it. The message holds nothing of the key.
absl::StatusOr<TlsPair> MakePair(const PairText& text);

// The pair in use. One thread.
class ServingCertificate {
 public:
  // Errors are those of ReadPair and MakePair, with the directory. A
  // certificate whose time is over or not yet come is taken all the same:
  // there is no better one, and the clock may be wrong.
  static absl::StatusOr<std::unique_ptr<ServingCertificate>> Open(
      std::string directory, std::function<absl::Time()> clock);

  // Reads the files again. True: another pair is in use from now on;
  // connections that are open keep theirs. An error: the pair that is there now
  // is refused, for what Open refuses or since it is not valid now, and the old
  // one stays in use. The same pair gets the same answer.
  absl::StatusOr<bool> Look();

  SSL_CTX* context() const { return pair_.context.get(); }
  const Validity& validity() const { return pair_.validity; }

 private:
  ServingCertificate(std::string directory, std::function<absl::Time()> clock)
      : directory_(std::move(directory)), clock_(std::move(clock)) {}

  absl::Status InDirectory(const absl::Status& error) const;

  const std::string directory_;
  const std::function<absl::Time()> clock_;
  PairText text_;
  TlsPair pair_;
};

// kInvalidArgument: not valid at `now`.
absl::Status CheckValidity(const Validity& validity, absl::Time now);

}  // namespace gpubinder

#endif  // WEBHOOK_CERTIFICATE_H_
