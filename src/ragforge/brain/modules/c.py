"""C's and C++'s modules: included files."""

from __future__ import annotations

from ragforge.brain.modules.finder import NOTHING, Finder, Located
from ragforge.brain.modules.paths import joined, only, parent, stem


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_STANDARD = _words(
    """
    algorithm any array atomic barrier bit bitset charconv chrono cmath compare complex concepts
    condition_variable coroutine cassert cctype cerrno cfloat cinttypes climits clocale csetjmp
    csignal cstdarg cstddef cstdint cstdio cstdlib cstring ctime cwchar deque exception execution
    expected filesystem format forward_list fstream functional future initializer_list iomanip ios
    iosfwd iostream istream iterator latch limits list locale map memory memory_resource mutex new
    numbers numeric optional ostream queue random ranges ratio regex scoped_allocator semaphore set
    shared_mutex source_location span sstream stack stdexcept stop_token streambuf string
    string_view syncstream system_error thread tuple type_traits typeindex typeinfo unordered_map
    unordered_set utility valarray variant vector version
    """
)


class CModules(Finder):
    """An include leads from its file's directory, else to the one path that ends so."""

    def locate(self, importer: str, module: str) -> Located:
        if "::" in module:
            return NOTHING
        beside = joined(parent(importer), module)
        found = self._paths.first((beside,)) if beside else ()
        if not found:
            end = module.lstrip("./") if module.startswith(".") else module
            found = only(self._paths.ending(end))
        return (found, ()) if found else NOTHING

    def library(self, module: str) -> str | None:
        if "::" in module or module.startswith("."):
            return None
        if module in _STANDARD or module == "std":
            return "std"
        top, slash, _ = module.partition("/")
        if slash:
            return None if self._paths.directories_ending(top) else top
        if "." not in module or self._paths.ending(module):
            return None  # a namespace, or one of several files
        return stem(module)
