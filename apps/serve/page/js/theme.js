// A classic script in the head: the chosen colours are there before the first paint.
try {
	const chosen = JSON.parse(localStorage.getItem("lexloop.theme"));
	if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
} catch {
	// a browser that keeps nothing goes by the system
}
