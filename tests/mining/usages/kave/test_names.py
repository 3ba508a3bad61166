"""Names as KaVE writes them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci_eval.plugins.mining.usages.kave.names import TypeName, member_name, method_name, parameter, type_name

TYPES = {
    "0T:System.IO.File, mscorlib, 4.0.0.0": TypeName("System.IO.File"),
    "System.IO.File, mscorlib, 4.0.0.0": TypeName("System.IO.File"),
    "CSharp.TypeName:N.Cart, Shop": TypeName("N.Cart", own=True),
    "0T:System.Collections.Generic.List`1[[T -> System.String, mscorlib, 4.0.0.0]], mscorlib, 4.0.0.0": TypeName(
        "System.Collections.Generic.List"
    ),
    "0T:i:System.IDisposable, mscorlib, 4.0.0.0": TypeName("System.IDisposable"),
    "0T:n:N.Outer+Inner, Lib, 1.0": TypeName("N.Outer.Inner"),
    "p:string": TypeName("System.String"),
    "0T:?": TypeName(),
    "CSharp.UnknownTypeName:?": TypeName(),
    "0T:T": TypeName(),
    "0T:arr(1):System.String, mscorlib, 4.0.0.0": TypeName(),
    "0T:System.String[], mscorlib, 4.0.0.0": TypeName(),
    "": TypeName(),
}


@pytest.mark.parametrize("text", TYPES)
def test_types(text: str) -> None:
    assert type_name(text) == TYPES[text]


def test_methods() -> None:
    found = method_name(
        "0M:static [System.Void, mscorlib, 4.0.0.0] [N.Cart, Shop].Put`1[[T]]"
        "(out [p:int] count, [System.IO.File, m, 1] f)"
    )
    assert found
    assert (found.name, found.declared_in, found.is_static) == ("Put", TypeName("N.Cart", own=True), True)
    assert found.parameters == ((TypeName("System.Int32"), "count"), (TypeName("System.IO.File"), "f"))
    assert found.key == "N.Cart.Put(Int32,File)"
    assert method_name("CSharp.MethodName:[?] [?].???()") is not None
    assert method_name("LocalVariable:x") is None
    assert method_name("0M:[a") is None


def test_members_and_parameters() -> None:
    assert member_name("0F:[p:string] [N.Cart, Shop].Name") == "N.Cart.Name"
    assert member_name("0P:get [p:int] [N.Cart, Shop].Count()") == "N.Cart.Count"
    assert member_name("") == ""
    assert parameter("[System.Exception, mscorlib, 4.0.0.0] e") == (TypeName("System.Exception"), "e")


@given(st.text(alphabet="0MT:[](),. `?ab+->p", max_size=60))
def test_no_name_raises(text: str) -> None:
    type_name(text)
    method_name(f"0M:{text}")
    member_name(text)
    parameter(text)
