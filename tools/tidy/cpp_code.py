"""A C++ file as far as the rules need it: without comments, and its functions."""

import re
from typing import NamedTuple

_NOT_CODE = re.compile(
    r"""R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)"   # raw string
      | "(?:\\.|[^"\\\n])*"
      | (?<![0-9A-Za-z_])'(?:\\.|[^'\\\n])+'           # not a digit separator
      | //[^\n]* | /\*.*?\*/""",
    re.S | re.X,
)
_DIRECTIVE = re.compile(r"^[ ]*\#(?:[^\n]*\\\n)*[^\n]*", re.M)
_INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]')


def _blank(match):
    return re.sub(r"[^\n]", " ", match.group())


def code_of(text):
    """The text with comments, literals and directives blanked, line by line the same."""
    return _DIRECTIVE.sub(_blank, _NOT_CODE.sub(_blank, text))


def includes_of(lines):
    """(line number, included path) for each include."""
    for number, line in lines:
        match = _INCLUDE.match(line)
        if match:
            yield number, match.group(1)


class Function(NamedTuple):
    first_line: int
    last_line: int


def _without_template_headers(statement):
    while True:
        match = re.match(r"\s*(?:template|requires)\s*<", statement)
        if not match:
            return statement
        depth, at = 1, match.end()
        while at < len(statement) and depth:
            depth += {"<": 1, ">": -1}.get(statement[at], 0)
            at += 1
        statement = statement[at:]


def _kind_of_block(statement):
    """What the brace after these words opens: a scope, a function, or other."""
    words = _without_template_headers(statement).strip()
    if re.match(r"(inline\s+)?namespace\b", words):
        return "scope"
    if re.match(r"(class|struct|union|extern)\b", words) and "(" not in words.split(" : ")[0]:
        return "scope"
    if words.startswith("enum"):
        return "other"
    before_arguments = re.sub(r"operator\s*[^\s\w]+", "operator", words).split("(")[0]
    if "(" not in words or "=" in before_arguments:
        return "other"
    return "function"


def functions_of(text):
    """The functions of a file, members and tests too; not the lambdas in them."""
    code = code_of(text)
    stack, found = [], []  # open braces: (kind, first line)
    statement, first_line, line = "", 0, 1
    for at, char in enumerate(code):
        line += char == "\n"
        in_scope = all(kind == "scope" for kind, _ in stack)
        if char == "{":
            kind = _kind_of_block(statement) if in_scope else "inner"
            stack.append((kind, first_line))
            if kind == "scope":
                statement = ""
        elif char == "}":
            kind, start = stack.pop() if stack else ("scope", line)
            following = code[at + 1 : at + 200].lstrip()[:1]
            # In a constructor's initialisers or an argument the statement goes on.
            if kind == "function" and following not in tuple(",{)"):
                found.append(Function(start, line))
                statement = ""
            elif kind == "scope":
                statement = ""
        elif in_scope:
            if not statement.strip():
                first_line = line
            statement += char
            if char == ";" or re.fullmatch(r"\s*(public|private|protected):", statement):
                statement = ""
    return found
