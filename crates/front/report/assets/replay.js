"use strict";
// Replays a recording: the seats at one time, the threads of a seat, and the story of a thread.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  if (!data || data.looks.length === 0) return;
  const byId = (id) => document.getElementById(id);
  const [slider, now, play, seatPanel, storyPanel] = ["time", "now", "play", "seat", "story"].map(byId);
  const wakesPanel = byId("wakes");
  const SVG = "http:" + "//www.w3.org/2000/svg";
  const COLOURS = 6, WIDTH = 104, HEIGHT = 46, GAP = 6, STEP_MS = 400;
  const state = { at: 0, cpu: null, story: null, timer: null };

  const element = (name, attributes, text) => {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    return made;
  };
  const paragraph = (text) => {
    const made = document.createElement("p");
    made.textContent = text;
    return made;
  };
  const colour = (program) => {
    let hash = 0;
    for (const letter of program) hash = (hash * 31 + letter.codePointAt(0)) % 9973;
    return `var(--series-${hash % COLOURS})`;
  };
  const cut = (text, most) => (text.length <= most ? text : `${text.slice(0, most - 1)}\u2026`);

  // ---- the seats, drawn once; a look changes their bars and names

  const seats = new Map();
  const drawGroup = (group) => {
    const cpus = group.cores.flat(), siblings = Math.max(...group.cores.map((core) => core.length));
    const across = Math.max(siblings, Math.floor(8 / siblings) * siblings);
    const columns = Math.min(cpus.length, across), lines = Math.ceil(cpus.length / columns);
    const size = [columns * (WIDTH + GAP), lines * (HEIGHT + GAP)];
    const figure = document.createElement("figure"), caption = document.createElement("figcaption");
    caption.textContent = group.name;
    const svg = element("svg", { width: size[0], height: size[1], viewBox: `0 0 ${size[0]} ${size[1]}` });
    cpus.forEach((cpu, place) => {
      const at = `translate(${(place % columns) * (WIDTH + GAP) + 2}, ${Math.floor(place / columns) * (HEIGHT + GAP) + 2})`;
      const seat = element("g", { transform: at, tabindex: 0, role: "button", "data-cpu": cpu });
      const parts = {
        seat,
        bar: element("rect", { x: 1, y: HEIGHT - 7, width: 0, height: 4 }),
        load: element("text", { x: WIDTH - 6, y: 15, "text-anchor": "end" }),
        name: element("text", { x: 6, y: 32 }),
      };
      seat.append(
        element("rect", { class: "box", width: WIDTH, height: HEIGHT, rx: 4 }),
        element("text", { x: 6, y: 15 }, `CPU ${cpu}`), parts.load, parts.name, parts.bar,
      );
      const look = () => choose(cpu);
      seat.addEventListener("pointerenter", look);
      seat.addEventListener("focus", look);
      const tell = () => {
        const [first] = on(cpu);
        if (first) tellStory(first[0]);
      };
      seat.addEventListener("click", tell);
      seat.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        tell();
      });
      seats.set(cpu, parts);
      svg.append(seat);
    });
    figure.append(caption, svg);
    byId("seats").append(figure);
  };

  // ---- one look

  const on = (cpu) =>
    data.looks[state.at].ran.filter(([, where, share]) => where === cpu && share > 0).sort((a, b) => b[2] - a[2]);
  const show = (at) => {
    state.at = at;
    const look = data.looks[at], busy = new Map(look.cpus);
    slider.value = at;
    now.textContent = `${look.at_s.toFixed(1)} s`;
    slider.setAttribute("aria-valuetext", now.textContent);
    for (const [cpu, parts] of seats) {
      const [first] = on(cpu), load = busy.get(cpu);
      const story = first && data.stories[first[0]];
      const known = load !== null && load !== undefined;
      parts.load.textContent = known ? `${load.toFixed(0)} %` : "-";
      parts.bar.setAttribute("width", known ? ((WIDTH - 2) * load) / 100 : 0);
      parts.bar.setAttribute("fill", story ? colour(story.program) : "var(--quiet)");
      parts.name.textContent = story ? cut(story.name, 16) : "";
      parts.seat.setAttribute("aria-label", `CPU ${cpu}, ${parts.load.textContent}, ${story ? story.name : "no thread"}`);
    }
    if (state.cpu !== null) choose(state.cpu);
    if (wakesPanel) showWakes(look);
  };

  // ---- who wakes whom

  const showWakes = (look) => {
    const cpus = new Map(look.ran.map(([at, cpu]) => [at, cpu]));
    const side = (at) => {
      const { name, tid } = data.stories[at], cpu = cpus.get(at);
      return `${name} (thread ${tid}${cpu === undefined || cpu === null ? "" : `, CPU ${cpu}`})`;
    };
    const lines = look.wakes.map(([from, to, rate]) => `${side(from)} wakes ${side(to)} ${rate.toFixed(0)} times a second`);
    wakesPanel.replaceChildren(...(lines.length ? lines : ["No thread woke another one."]).map(paragraph));
  };
  const choose = (cpu) => {
    state.cpu = cpu;
    for (const [other, parts] of seats) parts.seat.classList.toggle("chosen", other === cpu);
    const threads = on(cpu).slice(0, 8).map(([at, , share]) => {
      const { name, tid, program } = data.stories[at];
      return `${name} (thread ${tid} of ${program}): ${share.toFixed(1)} %`;
    });
    seatPanel.replaceChildren(paragraph(`CPU ${cpu}: ${threads.length ? threads.join("; ") : "no thread ran here"}`));
  };

  // ---- the story of a thread: its CPUs over the time

  const tellStory = (at) => {
    state.story = at;
    const story = data.stories[at], end = data.looks[data.looks.length - 1].at_s || 1;
    const cpus = [...new Set(story.seats.map(([, cpu]) => cpu))].sort((a, b) => a - b);
    const masks = story.masks.map(([from, mask]) => `${mask || "unknown CPUs"} from ${from.toFixed(1)} s on`).join(", ");
    const text = `${story.name}, thread ${story.tid} of ${story.program} (${story.pid}): ran ${story.run_s.toFixed(2)} s, ` +
      `changed its CPU at least ${Math.max(0, story.seats.length - 1)} times. It may run on ${masks}.`;
    const [left, right, line] = [60, 890, 16], height = cpus.length * line + 24;
    const x = (s) => left + ((right - left) * s) / end, y = (cpu) => cpus.indexOf(cpu) * line + 12;
    const svg = element("svg", { viewBox: `0 0 900 ${height}`, role: "img", "aria-label": "CPUs over the time" });
    for (const cpu of cpus) svg.append(element("text", { x: 0, y: y(cpu) + 4 }, `CPU ${cpu}`));
    story.seats.forEach(([from, cpu], place) => {
      const to = place + 1 < story.seats.length ? story.seats[place + 1][0] : story.to_s;
      const width = Math.max(2, x(to) - x(from));
      svg.append(element("rect", { x: x(from), y: y(cpu) - 5, width, height: 10, fill: colour(story.program) }));
    });
    svg.append(element("text", { x: left, y: height - 4 }, "0 s"));
    svg.append(element("text", { x: right, y: height - 4, "text-anchor": "end" }, `${end.toFixed(1)} s`));
    storyPanel.replaceChildren(paragraph(text), svg);
  };

  // ---- time

  const stop = () => {
    clearInterval(state.timer);
    state.timer = null;
    play.textContent = "Play";
  };
  const step = () => (state.at + 1 < data.looks.length ? show(state.at + 1) : stop());
  play.addEventListener("click", () => {
    if (state.timer !== null) return stop();
    if (state.at + 1 >= data.looks.length) show(0);
    play.textContent = "Pause";
    state.timer = setInterval(step, STEP_MS);
  });
  slider.addEventListener("input", () => show(Number(slider.value)));
  for (const button of document.querySelectorAll("[data-story]")) {
    button.addEventListener("click", () => tellStory(Number(button.dataset.story)));
  }
  data.groups.forEach(drawGroup);
  show(0);
})();
