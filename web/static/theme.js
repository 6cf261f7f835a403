// Runs before the page is drawn, so that a remembered colour scheme is there
// from the first paint and nothing flashes.
"use strict";
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  try {
    const theme = localStorage.getItem("theme");
    if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  } catch {
    // Storage is closed to the page: the system's scheme stays.
  }
})();
