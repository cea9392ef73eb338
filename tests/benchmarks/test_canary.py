"""A password in the model's address is sent to the host, and stands nowhere else."""

from _canary import NAME, leaks, said


def test_a_password_in_the_address_is_sent_and_said_nowhere() -> None:
    found = said()
    assert leaks(found) == []
    assert found["sent"] == "Basic Y2FuYXJ5LW5hbWU6Y2FuYXJ5LXA0c3N3MHJk"
    assert "ModelAuthError" in found["error"]
    assert "ModelAuthError" in found["command"]
    assert "[key]" in found["traces"]
    assert NAME not in found["connection"]
    assert "taken" not in found["refused addresses"]
