"""The words that a name of the contract must not become in a language, and the style in which its code writes names."""

from collections.abc import Callable
from typing import Final, NamedTuple


def snake(name: str) -> str:
    """Return `PlaceCard` or `placeCard` as `place_card`."""
    spaced = "".join(f"_{letter}" if letter.isupper() else letter for letter in name) if not name.isupper() else name
    return spaced.lstrip("_").lower()


def pascal(name: str) -> str:
    """Return `place_card` or `PLACE_CARD` as `PlaceCard`."""
    return "".join(part[:1].upper() + part[1:] for part in (name.lower() if name.isupper() else name).split("_"))


def camel(name: str) -> str:
    """Return `place_card` or `PlaceCard` as `placeCard`."""
    return name[:1].lower() + pascal(name)[1:]


def unchanged(name: str) -> str:
    """Return the name as the contract writes it."""
    return name


class Words(NamedTuple):
    """The keywords of a language, and how its generated code writes names of the contract.

    Attributes:
        field: the style of fields and oneofs.
        message: the styles of messages and enums.
        value: the style of an enum value without its prefix; None if the code keeps the whole name.
        call: the style of the service's methods.
        not_values: the words that an enum value must not become; `keywords` if None.
    """

    keywords: frozenset[str]
    field: Callable[[str], str]
    message: tuple[Callable[[str], str], ...]
    value: Callable[[str], str] | None
    call: Callable[[str], str]
    not_values: frozenset[str] | None = None


def _words(keywords: str) -> frozenset[str]:
    return frozenset(keywords.split())


WORDS: Final = {
    "C++": Words(
        _words(
            "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t"
            " char32_t class compl concept const consteval constexpr constinit const_cast continue co_await"
            " co_return co_yield decltype default delete do double dynamic_cast else enum explicit export extern"
            " false final float for friend goto if inline int long mutable namespace new noexcept not not_eq"
            " nullptr operator or or_eq override private protected public register reinterpret_cast requires"
            " return short signed sizeof static static_assert static_cast struct switch template this thread_local"
            " throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor"
            " xor_eq NULL EOF assert errno stdin stdout stderr"
        ),
        unchanged,
        (unchanged,),
        None,
        unchanged,
    ),
    "C#": Words(
        # The words of C# have small letters only; generated names begin with a capital letter.
        _words(
            "abstract as base bool break byte case catch char checked class const continue decimal default"
            " delegate do double else enum event explicit extern false finally fixed float for foreach goto if"
            " implicit in int interface internal is lock long namespace new null object operator out override"
            " params private protected public readonly ref return sbyte sealed short sizeof stackalloc static"
            " string struct switch this throw true try typeof uint ulong unchecked unsafe ushort using virtual"
            " void volatile while"
        ),
        pascal,
        (unchanged,),
        pascal,
        unchanged,
    ),
    "Dart": Words(
        _words(
            "assert async await break case catch class const continue default do else enum extends false final"
            " finally for if in is late new null rethrow return super switch this throw true try var void while"
            " with yield"
        ),
        camel,
        (unchanged,),
        None,
        camel,
    ),
    "Go": Words(
        _words(
            "break case chan const continue default defer else fallthrough for func go goto if import interface"
            " map package range return select struct switch type var"
        ),
        pascal,
        (unchanged,),
        None,
        unchanged,
    ),
    "Java": Words(
        _words(
            "abstract assert boolean break byte case catch char class const continue default do double else enum"
            " extends final finally float for goto if implements import instanceof int interface long native new"
            " package private protected public return short static strictfp super switch synchronized this throw"
            " throws transient try void volatile while true false null"
        ),
        lambda name: f"get{pascal(name)}",
        (unchanged,),
        None,
        camel,
    ),
    "Kotlin": Words(
        _words(
            "as break class continue do else false for fun if in interface is null object package return super"
            " this throw true try typealias typeof val var when while"
        ),
        camel,
        (unchanged, camel),  # the function that builds a message has the name of the message
        None,
        camel,
    ),
    "Objective-C": Words(
        _words(
            "auto bool break case char const continue default do double else enum extern float for goto if inline"
            " int long register restrict return short signed sizeof static struct switch typedef union unsigned"
            " void volatile while id in inout out bycopy byref oneway self super nil Nil YES NO BOOL SEL IMP"
            " strong weak assign retain copy readonly atomic nonatomic class alloc autorelease dealloc"
            " debugDescription description hash init isProxy release retainCount superclass zone"
        ),
        camel,
        (unchanged,),
        pascal,
        unchanged,
    ),
    "PHP": Words(
        _words(
            "Abstract And Array As Break Callable Case Catch Class Clone Const Continue Declare Default Die Do"
            " Echo Else Elseif Empty Eval Exit Extends Final Finally Fn For Foreach Function Global Goto If"
            " Implements Include Instanceof Insteadof Interface Isset List Match Namespace New Or Print Private"
            " Protected Public Readonly Require Return Static Switch Throw Trait Try Unset Use Var While Xor Yield"
            " Self Parent Int Float Bool String True False Null Void Iterable Object Mixed Never"
        ),
        lambda name: f"get{pascal(name)}",
        (unchanged,),
        None,
        unchanged,
    ),
    "Python": Words(
        _words(
            "False None True and as assert async await break class continue def del elif else except finally for"
            " from global if import in is lambda nonlocal not or pass raise return try while with yield"
        ),
        unchanged,
        (unchanged,),
        None,
        unchanged,
    ),
    "Ruby": Words(
        _words(
            "BEGIN END alias and begin break case class def defined do else elsif end ensure false for if in"
            " module next nil not or redo rescue retry return self super then true undef unless until when while"
            " yield clone display dup extend freeze frozen? hash inspect itself method methods object_id send tap"
            " then"
        ),
        unchanged,
        (unchanged,),
        None,
        snake,
    ),
    "Rust": Words(
        _words(
            "Self abstract as async await become box break const continue crate do dyn else enum extern false"
            " final fn for gen if impl in let loop macro match mod move mut override priv pub ref return self"
            " static struct super trait true try type typeof union unsafe unsized use virtual where while yield"
        ),
        unchanged,
        (unchanged, snake),  # the module of a message has its name in snake_case
        pascal,
        snake,
    ),
    "Swift": Words(
        _words(
            "Any Protocol Self Type as associatedtype break case catch class continue default defer deinit do"
            " else enum extension fallthrough false fileprivate for func guard if import in init inout internal is"
            " let nil operator precedencegroup private protocol public repeat rethrows return self static struct"
            " subscript super switch throw throws true try typealias var where while debugDescription description"
            " hashValue"
        ),
        camel,
        (unchanged,),
        camel,
        camel,
        # After a dot, Swift takes most keywords as names: `.public`.
        _words("Protocol Type allCases debugDescription description hashValue init none rawValue self some"),
    ),
    "TypeScript": Words(
        _words(
            "arguments await break case catch class const continue debugger default delete do else enum eval"
            " export extends false finally for function if implements import in instanceof interface let new null"
            " package private protected public return static super switch this throw true try typeof var void"
            " while with yield constructor toString hasOwnProperty"
        ),
        camel,
        (unchanged,),
        None,
        camel,
    ),
}
"""By language. The words of Objective-C, Ruby and Swift include members that every object has."""
