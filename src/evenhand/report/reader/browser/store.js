// The data of a reader: parts of JSON, gzipped, as Base64, opened when they are needed.

const CHUNKS_KEPT = 12;
const SEARCHED_KEPT = 150e6; // characters

function bytesOf(base64) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
  const binary = atob(base64);
  const bytes = new Uint8Array(binary.length);
  for (let place = 0; place < binary.length; place += 1) bytes[place] = binary.charCodeAt(place);
  return bytes;
}

async function opened(id) {
  const stream = new Blob([bytesOf(document.getElementById(id).textContent.trim())]).stream();
  return JSON.parse(await new Response(stream.pipeThrough(new DecompressionStream("gzip"))).text());
}

class Store {
  constructor(prefix) {
    this.prefix = prefix;
    this.views = new Map();
    this.chunks = new Map();
    this.searched = new Map();
    this.searchedSize = 0;
  }

  async open() {
    this.index = await opened(`${this.prefix}-index`);
    this.count = this.index.ids.length;
    this.chunkCount = Math.ceil(this.count / this.index.size);
    this.rows = new Map(this.index.ids.map((id, row) => [id, row]));
  }

  async view(place) {
    if (!this.views.has(place)) {
      const found = await opened(`${this.prefix}-view-${place}`);
      const columns = new Map();
      for (const column of [...this.index.columns, ...found.columns]) columns.set(column.name, column);
      this.views.set(place, { ...found, columns, permutations: new Map() });
    }
    return this.views.get(place);
  }

  // The pairs of a chunk. Those used last are kept.
  async chunk(place) {
    const known = this.chunks.get(place);
    this.chunks.delete(place);
    const promise = known || opened(`${this.prefix}-chunk-${place}`);
    this.chunks.set(place, promise);
    if (this.chunks.size > CHUNKS_KEPT) this.chunks.delete(this.chunks.keys().next().value);
    return promise;
  }

  async pair(row) {
    const pairs = await this.chunk(Math.floor(row / this.index.size));
    return pairs[row % this.index.size];
  }

  // The texts of the pairs of a chunk in small letters, for the search.
  async texts(place) {
    const known = this.searched.get(place);
    if (known) return known;
    const pairs = this.chunks.has(place) ? await this.chunk(place) : await opened(`${this.prefix}-chunk-${place}`);
    const found = pairs.map((pair) => {
      const parts = [pair.shared || ""];
      for (const side of pair.sides) parts.push(side.prompt || "", side.text || "");
      return parts.join("\n").toLowerCase();
    });
    const size = found.reduce((sum, text) => sum + text.length, 0);
    if (this.searchedSize + size <= SEARCHED_KEPT) {
      this.searchedSize += size;
      this.searched.set(place, found);
    }
    return found;
  }

  // What the index itself holds of a pair, in small letters.
  fields() {
    if (!this.folded) {
      const columns = this.index.columns.filter((column) => column.kind !== "number");
      this.folded = this.index.ids.map((id, row) => [id, ...columns.map((one) => valueText(one, row))].join("\n").toLowerCase());
    }
    return this.folded;
  }
}

function valueText(column, row) {
  if (!column) return "";
  if (column.kind === "category") return column.codes[row] < 0 ? "" : column.levels[column.codes[row]];
  if (column.kind === "flags") return marksOf(column, row).join("; ");
  const value = column.values[row];
  return column.kind === "text" ? value : numberText(value, column.format);
}

function marksOf(column, row) {
  return column.levels.filter((_, place) => column.codes[row] & (1 << place));
}

function numberText(value, format) {
  if (value === null || value === undefined) return "";
  const sign = format.startsWith("signed") && value > 0 ? "+" : "";
  if (format.endsWith("percent")) return `${sign}${percent(value)}`;
  if (format.endsWith("rating")) return minus(sign + value.toFixed(1));
  return minus(format === "count" ? value.toLocaleString("en") : String(value));
}

function minus(text) {
  return /^-0(\.0*)?$/.test(text) ? text.slice(1) : text.replace(/^-/, "\u2212");
}

function percent(share) {
  const points = 100 * share;
  // 100% and 0% are kept for what is so: nearly certain is not certain.
  if (points > 99.5 && points < 100) return ">99%";
  if (points > 0 && points < 0.5) return "<1%";
  return `${minus(String(Math.round(points)))}%`;
}
