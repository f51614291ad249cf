/* Hides the rows of all tables that lack one of the words of a search. */

byId("find").addEventListener("input", event => {
  const words = event.target.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  document.querySelectorAll("details").forEach(table => {
    let here = 0;
    table.querySelectorAll("tbody tr").forEach(row => {
      row.hidden = !words.every(word => row.textContent.toLowerCase().includes(word));
      here += !row.hidden;
    });
    const count = table.querySelector(".count");
    count.dataset.all ??= count.textContent;
    count.textContent = words.length ? `${here} of ${count.dataset.all}` : count.dataset.all;
    shown += here;
  });
  byId("found").textContent = words.length ? `${shown} rows` : "";
});
