"""The address of a caller, with and without proxies."""

from ipaddress import ip_network

import pytest

from service.transport.addresses import caller_address

PROXIES = (ip_network("10.0.0.0/8"), ip_network("fd00::/8"))


@pytest.mark.parametrize(
    ("peer", "forwarded_for", "expected"),
    [
        ("ipv4:203.0.113.5:50123", "", "203.0.113.5"),
        ("ipv4:203.0.113.5:50123", "198.51.100.1", "203.0.113.5"),  # anyone can send the header
        ("ipv4:10.1.2.3:50123", "198.51.100.1", "198.51.100.1"),
        ("ipv4:10.1.2.3:50123", "192.0.2.9, 198.51.100.1", "198.51.100.1"),
        ("ipv4:10.1.2.3:50123", "198.51.100.1, 10.9.9.9", "198.51.100.1"),
        ("ipv4:10.1.2.3:50123", "", "10.1.2.3"),
        ("ipv4:10.1.2.3:50123", "garbage", ""),
        ("unix:", "198.51.100.1", "198.51.100.1"),
        ("unix:", "192.0.2.9, 198.51.100.1", "198.51.100.1"),
        ("unix:", "", ""),
        ("ipv6:%5B2001:db8:1:2:3:4:5:6%5D:50123", "", "2001:db8:1:2::/64"),
        ("ipv6:[2001:db8:1:2:ffff::1]:50123", "", "2001:db8:1:2::/64"),
        ("ipv6:%5Bfd00::1%5D:50123", "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("ipv6:%5B::ffff:203.0.113.5%5D:50123", "", "203.0.113.5"),
        ("ipv6:%5B::ffff:10.1.2.3%5D:50123", "198.51.100.1", "198.51.100.1"),
    ],
)
def test_the_address_of_a_caller(peer: str, forwarded_for: str, expected: str) -> None:
    assert caller_address(peer, forwarded_for, PROXIES) == expected
