"use strict";
// Light or dark as the system has it, until the reader chooses; the choice lives as long as the browser lets it.
(() => {
  const root = document.documentElement;
  const key = "seatmap-theme";
  const stored = () => {
    try { return localStorage.getItem(key); } catch { return null; }
  };
  const keep = (theme) => {
    try { localStorage.setItem(key, theme); } catch { /* a file:// page may have no storage */ }
  };
  const current = () => root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  const announce = () => document.dispatchEvent(new Event("themechange"));

  const chosen = stored();
  if (chosen === "light" || chosen === "dark") root.dataset.theme = chosen;
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", announce);
  document.addEventListener("DOMContentLoaded", () => {
    document.getElementById("theme")?.addEventListener("click", () => {
      root.dataset.theme = current() === "dark" ? "light" : "dark";
      keep(root.dataset.theme);
      announce();
    });
  });
})();
