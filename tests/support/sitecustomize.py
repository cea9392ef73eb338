"""Python imports this at its start: processes that tests start are guarded as well."""

import network_guard

network_guard.install()
