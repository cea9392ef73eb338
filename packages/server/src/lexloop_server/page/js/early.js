// A classic script in the head: the chosen colours and language are there before the first paint.
{
	const kept = (name) => {
		try {
			return JSON.parse(localStorage.getItem(`lexloop.${name}`));
		} catch {
			return null; // a browser that keeps nothing goes by the system
		}
	};
	const root = document.documentElement;
	const theme = kept("theme");
	if (theme === "light" || theme === "dark") root.dataset.theme = theme;
	const wished = [kept("language"), ...navigator.languages.map((one) => one.slice(0, 2))];
	root.lang = wished.find((one) => one === "en" || one === "de") ?? "en";
	import(`../words/${root.lang}.json`, { with: { type: "json" } }); // comes while the modules do
}
