"use strict";
// The heatmap of one profile: draws it, follows the pointer and the keys, reorders, and predicts other homes.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const canvas = document.getElementById("map");
  if (!data || !data.scale || !canvas) return;

  const byId = (id) => document.getElementById(id);
  const tip = byId("tip"), pinnedPanel = byId("pinned"), spoken = byId("spoken"), slider = byId("home");
  const hint = pinnedPanel.firstElementChild;
  const n = data.pus.length;
  const state = { order: data.by_group, grouped: true, home: 0, cell: null, pinned: null };
  const NEIGHBOURS = 12;
  const STATUS = { s: "stable", d: "drifting", m: "multi-regime", u: "unsteady", k: "stacked", i: "imported" };
  const pairKey = (a, b) => `${Math.min(a, b)}-${Math.max(a, b)}`;
  const regimes = new Map(data.regimes.map(({ pus, levels }) => [pairKey(...pus), levels]));

  // ---- figures: hundredths of a nanosecond, null where not known; a and b are rows of the profile's matrices

  const at = (a, b) => {
    const [i, j] = a < b ? [a, b] : [b, a];
    return i * n - (i * (i + 1)) / 2 + (j - i - 1);
  };
  const median = (a, b) => (a === b ? null : data.median[at(a, b)]);
  const predicted = (a, b, home) => {
    const model = data.model;
    if (a === b) return null;
    const core = data.places[a].core;
    if (core !== null && core === data.places[b].core) return model.smt;
    const [from, to] = [model.group[a], model.group[b]];
    if (from === null || to === null) return null;
    const base = from === to && model.inside.length > 0 ? model.inside[home][from] : model.between[from][to];
    const terms = [base, model.offset[home][a], model.offset[home][b]];
    return terms.includes(null) ? null : terms[0] + terms[1] + terms[2];
  };
  const shownValue = (a, b) => (state.home === 0 ? median(a, b) : predicted(a, b, state.home - 1));
  const figure = (hundredths) => {
    if (hundredths === null || hundredths === undefined) return "unknown";
    const place = 10 ** Math.max(0, -data.decimals), decimals = Math.max(0, data.decimals);
    return `${(place === 1 ? hundredths / 100 : Math.round(hundredths / 100 / place) * place).toFixed(decimals)} ns`;
  };

  // ---- colours

  const position = (hundredths) => {
    const { low_ns: low, high_ns: high, log } = data.scale;
    const ns = hundredths / 100;
    const share = log ? Math.log(ns / low) / Math.log(high / low) : (ns - low) / (high - low);
    return Math.min(1, Math.max(0, Number.isFinite(share) ? share : 0));
  };
  const colour = (share) => {
    const along = share * (data.ramp.length - 1);
    const left = Math.min(Math.floor(along), data.ramp.length - 2);
    return data.ramp[left].map((from, c) => Math.round(from + (data.ramp[left + 1][c] - from) * (along - left)));
  };
  const UNKNOWN = [128, 128, 128];
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  // ---- drawing: the cells once into a picture of one point each, everything else at every frame

  const picture = document.createElement("canvas");
  const paint = () => {
    picture.width = picture.height = n;
    const context = picture.getContext("2d");
    const image = context.createImageData(n, n);
    state.order.forEach((a, row) => state.order.forEach((b, column) => {
      if (a === b) return;
      const value = shownValue(a, b);
      image.data.set([...(value === null ? UNKNOWN : colour(position(value))), 255], 4 * (row * n + column));
    }));
    context.putImageData(image, 0, 0);
  };

  const LEFT = 44, TOP = 24, LABEL = 30;
  let side = 0;
  const cellSize = () => side / n;
  const begins = (row) => state.grouped && row > 0 && data.group[state.order[row]] !== data.group[state.order[row - 1]];

  const draw = () => {
    const ratio = window.devicePixelRatio || 1;
    // The squares of few CPUs need not fill the page.
    side = Math.min(n * 200, Math.max(120, canvas.parentElement.clientWidth - LEFT));
    canvas.style.width = `${side + LEFT}px`;
    canvas.width = Math.round((side + LEFT) * ratio);
    canvas.height = Math.round((side + TOP) * ratio);
    const context = canvas.getContext("2d");
    context.scale(ratio, ratio);
    context.imageSmoothingEnabled = cellSize() * ratio < 1;
    context.drawImage(picture, LEFT, TOP, side, side);
    drawGroups(context);
    drawFigures(context);
    drawLabels(context);
    if (state.pinned !== null) outline(context, state.pinned, null, css("--accent"));
    if (state.cell) outline(context, state.cell[0], state.cell[1], css("--cursor"));
  };

  const drawGroups = (context) => {
    context.fillStyle = css("--card");
    for (let row = 1; row < n; row += 1) {
      if (!begins(row)) continue;
      const middle = row * cellSize();
      context.fillRect(LEFT + middle - 0.75, TOP, 1.5, side);
      context.fillRect(LEFT, TOP + middle - 0.75, side, 1.5);
    }
  };

  // The figures of few CPUs have room in their squares.
  const drawFigures = (context) => {
    const size = cellSize();
    if (size < 44) return;
    context.font = `${Math.min(16, size / 4)}px system-ui, sans-serif`;
    context.textBaseline = "middle";
    context.textAlign = "center";
    state.order.forEach((a, row) => state.order.forEach((b, column) => {
      if (a === b) return;
      const value = shownValue(a, b);
      const [r, g, blue] = value === null ? UNKNOWN : colour(position(value));
      context.fillStyle = 0.2126 * r + 0.7152 * g + 0.0722 * blue > 120 ? "#000" : "#fff";
      const text = value === null ? "?" : figure(value).replace(" ns", "");
      context.fillText(text, LEFT + (column + 0.5) * size, TOP + (row + 0.5) * size);
    }));
  };

  const drawLabels = (context) => {
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    const marked = new Set([...(state.cell ?? []), state.pinned].filter((row) => row !== null));
    const taken = [...marked];
    const offer = (row) => {
      if (taken.some((other) => Math.abs(other - row) * cellSize() < LABEL)) return;
      taken.push(row);
      label(context, row, (row + 0.5) * cellSize(), css("--quiet"));
    };
    // The first of each group before the others; these a power of two apart, so that siblings, which stand side by side and are
    // numbered far apart, do not take turns.
    const step = 2 ** Math.ceil(Math.log2(Math.max(1, LABEL / cellSize())));
    let first = 0;
    const between = [];
    state.order.forEach((_, row) => {
      if (row === 0 || begins(row)) { first = row; offer(row); }
      else if ((row - first) % step === 0) between.push(row);
    });
    between.forEach(offer);
    marked.forEach((row) => label(context, row, (row + 0.5) * cellSize(), css("--text")));
  };

  const label = (context, row, middle, ink) => {
    const text = String(data.pus[state.order[row]]);
    context.fillStyle = ink;
    context.textAlign = "right";
    context.fillText(text, LEFT - 8, TOP + middle);
    context.textAlign = "center";
    context.fillText(text, LEFT + middle, TOP - 11);
  };

  const outline = (context, row, column, ink) => {
    const size = cellSize();
    context.strokeStyle = ink;
    context.lineWidth = 1.5;
    context.strokeRect(LEFT, TOP + row * size, side, size);
    if (column === null) return;
    context.strokeRect(LEFT + column * size, TOP, size, side);
  };

  // ---- what the cursor stands on

  const element = (name, className, text) => {
    const made = document.createElement(name);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  };
  const row = (...cells) => {
    const made = element("tr");
    cells.forEach((text, index) => made.append(element(index === 0 ? "th" : "td", "", text)));
    return made;
  };
  const known = (value) => (value === null || value === undefined ? "–" : String(value));
  const LEVELS = [
    ["core", "Core"], ["l2", "L2"], ["l3", "L3"], ["die", "Die"], ["numa", "NUMA node"], ["package", "Package"],
    ["kind", "Kind"],
  ];

  const spread = (a, b) => {
    const pair = at(a, b), middle = data.median[pair];
    const rows = [];
    const from = (list) => (list && middle !== null && list[pair] !== null ? middle + list[pair] : null);
    const [p10, low, high] = [data.p10, data.low, data.high].map(from);
    if (p10 !== null) rows.push(["p10", figure(p10)]);
    if (middle !== null && data.mad) rows.push(["MAD", figure(data.mad[pair])]);
    const interval = () => `${figure(low).replace(" ns", "")} – ${figure(high)}`;
    if (low !== null && high !== null) rows.push(["95 % interval", interval()]);
    const status = data.status.length === 1 ? data.status : data.status[pair];
    if (STATUS[status]) rows.push(["Status", STATUS[status]]);
    const levels = regimes.get(pairKey(data.pus[a], data.pus[b])) ?? [];
    levels.forEach(([ns, share], index) => {
      rows.push([`Level ${index + 1}`, `${figure(ns)}, ${Math.round(share * 100)} %`]);
    });
    return rows;
  };

  const fillTip = (a, b) => {
    const table = element("table"), places = element("tbody"), head = element("thead"), figures = element("tbody");
    const title = a === b ? `PU ${data.pus[a]}` : `PU ${data.pus[a]} – PU ${data.pus[b]}`;
    tip.replaceChildren(element("div", "pair", title));
    if (a !== b) {
      tip.append(element("div", "ns", figure(shownValue(a, b))));
      if (state.home > 0) figures.append(row("Measured", figure(median(a, b))));
      spread(a, b).forEach((cells) => figures.append(row(...cells)));
      const titles = element("tr");
      ["", `PU ${data.pus[a]}`, `PU ${data.pus[b]}`].forEach((text) => titles.append(element("th", "", text)));
      head.append(titles);
    }
    LEVELS.forEach(([key, name]) => {
      if (data.places[a][key] === null && data.places[b][key] === null) return;
      const cells = [known(data.places[a][key]), known(data.places[b][key])];
      places.append(row(name, ...(a === b ? cells.slice(1) : cells)));
    });
    const top = element("table");
    top.append(figures);
    table.append(head, places);
    tip.append(top, table);
  };

  const placeTip = () => {
    const size = cellSize(), [r, c] = state.cell, box = canvas.parentElement;
    const x = LEFT + (c + 1) * size + 14, y = TOP + (r + 1) * size + 14;
    const left = x + tip.offsetWidth > box.clientWidth ? LEFT + c * size - tip.offsetWidth - 14 : x;
    const top = y + tip.offsetHeight > side + TOP ? TOP + r * size - tip.offsetHeight - 14 : y;
    tip.style.left = `${Math.max(0, left)}px`;
    tip.style.top = `${Math.max(0, top)}px`;
  };

  const moveTo = (cell, speak) => {
    if (cell && state.cell && cell[0] === state.cell[0] && cell[1] === state.cell[1]) return;
    state.cell = cell;
    tip.hidden = cell === null;
    if (cell) {
      const [a, b] = cell.map((row) => state.order[row]);
      fillTip(a, b);
      placeTip();
      const words = `PU ${data.pus[a]} to PU ${data.pus[b]}: ${figure(shownValue(a, b))}`;
      if (speak) spoken.textContent = a === b ? `PU ${data.pus[a]}` : words;
    }
    draw();
  };

  // ---- the pinned row

  const SHARED = [
    ["core", "same core"], ["l2", "same L2"], ["l3", "same L3"], ["die", "same die"], ["numa", "same NUMA node"],
    ["package", "same package"],
  ];
  const shared = (a, b) => {
    const [from, to] = [data.places[a], data.places[b]];
    return SHARED.find(([key]) => from[key] !== null && from[key] === to[key])?.[1] ?? "";
  };

  const pin = (row) => {
    state.pinned = row;
    if (row === null) {
      pinnedPanel.replaceChildren(hint);
      return draw();
    }
    const a = state.order[row];
    const others = data.pus.map((_, b) => b).filter((b) => b !== a && shownValue(a, b) !== null);
    others.sort((b, c) => shownValue(a, b) - shownValue(a, c) || data.pus[b] - data.pus[c]);
    const list = element("ol", "near");
    const farthest = others.length > 0 ? shownValue(a, others.at(-1)) : 0;
    others.slice(0, NEIGHBOURS).forEach((b) => list.append(neighbour(a, b, farthest)));
    const levels = LEVELS.filter(([key]) => data.places[a][key] !== null);
    const place = levels.map(([key, name]) => `${name} ${data.places[a][key]}`).join(" · ");
    pinnedPanel.replaceChildren(element("h3", "", `Nearest to PU ${data.pus[a]}`), element("p", "place", place), list);
    draw();
  };

  const neighbour = (a, b, farthest) => {
    const item = element("li"), bar = element("span", "bar"), value = shownValue(a, b), level = shared(a, b);
    bar.style.width = `${Math.max(2, (100 * value) / farthest)}%`;
    bar.style.background = `rgb(${colour(position(value)).join(" ")})`;
    item.append(element("span", "", `PU ${data.pus[b]}`), bar, element("span", "ns", figure(value)));
    if (level) item.append(element("span", "shared", level));
    return item;
  };

  // ---- input

  const under = (event) => {
    const box = canvas.getBoundingClientRect();
    const column = Math.floor((event.clientX - box.left - LEFT) / cellSize());
    const row = Math.floor((event.clientY - box.top - TOP) / cellSize());
    return row >= 0 && column >= 0 && row < n && column < n ? [row, column] : null;
  };
  const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  const inside = (row) => Math.min(n - 1, Math.max(0, row));
  const onKey = (event) => {
    const step = STEPS[event.key], [r, c] = state.cell ?? [0, 0];
    if (step) moveTo(state.cell ? [inside(r + step[0]), inside(c + step[1])] : [0, inside(1)], true);
    else if (event.key === "Enter" || event.key === " ") pin(state.cell ? r : null);
    else if (event.key === "Escape") { moveTo(null); pin(null); }
    else return;
    event.preventDefault();
  };
  const show = (change) => {
    const pinned = state.pinned === null ? null : state.order[state.pinned];
    change();
    moveTo(null);
    paint();
    pin(pinned === null ? null : state.order.indexOf(pinned));
  };

  canvas.addEventListener("pointermove", (event) => moveTo(under(event)));
  canvas.addEventListener("pointerleave", () => moveTo(null));
  canvas.addEventListener("click", (event) => {
    const cell = under(event);
    moveTo(cell);
    pin(cell && cell[0] !== state.pinned ? cell[0] : null);
  });
  canvas.addEventListener("keydown", onKey);
  const reorder = (order) => show(() => {
    state.grouped = order === "group";
    state.order = state.grouped ? data.by_group : data.by_os;
  });
  document.querySelectorAll("input[name=order]").forEach((input) => {
    input.addEventListener("change", () => reorder(input.value));
  });
  slider?.addEventListener("input", () => show(() => {
    state.home = Number(slider.value);
    byId("home-name").textContent = state.home === 0 ? "measured" : `predicted, home ${state.home - 1}`;
  }));
  document.addEventListener("themechange", draw);
  window.addEventListener("resize", draw);
  paint();
  draw();
})();
