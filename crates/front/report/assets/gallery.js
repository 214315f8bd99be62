"use strict";
// The page of all machines: heads sort the table, the field searches it. Without a script it is a table all the same.
(() => {
  const table = document.getElementById("machines");
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const value = (row, column) => row.cells[column].dataset.sort ?? row.cells[column].textContent.trim();
  const compared = (a, b) => {
    const numbers = [Number(a), Number(b)];
    const areNumbers = a !== "" && b !== "" && numbers.every(Number.isFinite);
    return areNumbers ? numbers[0] - numbers[1] : a.localeCompare(b);
  };
  const heads = [...table.querySelectorAll("th[data-column]")];
  for (const head of heads) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const column = Number(head.dataset.column);
      const sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
      rows.sort((a, b) => sign * compared(value(a, column), value(b, column)));
      body.append(...rows);
    });
  }
  const search = document.getElementById("search");
  const none = document.getElementById("none");
  search.addEventListener("input", () => {
    const words = search.value.toLowerCase().split(/\s+/);
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
    }
    none.hidden = rows.some((row) => !row.hidden);
  });
})();
