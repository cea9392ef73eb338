// A classic script in the head: the chosen colours are there before the first paint.
(() => {
  let chosen = null;
  try {
    chosen = localStorage.getItem("lexloop.theme");
  } catch {
    // a browser that keeps nothing goes by the system
  }
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
})();
