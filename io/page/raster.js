// A picture of many trials: for each pixel how many trials cover it, and the best class of them. Strokes of a canvas
// would take seconds for 100,000 lines.
"use strict";
class Raster {
  constructor(canvas, width, height) {
    const fine = Math.min(2, Math.max(1, Math.round(devicePixelRatio || 1)));
    Object.assign(this, { canvas, fine, width: Math.round(width * fine), height: Math.round(height * fine) });
    canvas.width = this.width;
    canvas.height = this.height;
    this.pen = canvas.getContext("2d");
    this.image = this.pen.createImageData(this.width, this.height);
    this.words = new Uint32Array(this.image.data.buffer);
    this.cover = new Float32Array(this.width * this.height);
    this.best = new Uint8Array(this.width * this.height);
  }
  // Begins with what `paint` draws, which is the same as long as the key is; null: with nothing.
  start(key, paint) {
    if (key !== null && key === this.key) { this.words.set(this.pale); return; }
    this.words.fill(0);
    if (key === null) return;
    paint();
    this.key = key;
    this.pale = this.words.slice();
  }
  begin() { this.cover.fill(0); this.best.fill(0); }
  // A disc of a diameter around each row's point.
  dots(x, y, rows, classes, diameter) {
    if (diameter * this.fine === 2) { this.squares(x, y, rows, classes); return; }
    const { cover, best, width, height, fine } = this, r = diameter * fine / 2, spans = [];
    for (let dy = -Math.ceil(r); dy < r; dy++) {
      const half = Math.sqrt(Math.max(0, r * r - (dy + 0.5) ** 2));
      if (Math.round(half) > 0) spans.push([dy, Math.round(half)]);
    }
    for (let i = 0; i < x.length; i++) {
      if (!rows[i] || x[i] !== x[i] || y[i] !== y[i]) continue;
      const cx = Math.round(x[i] * fine), cy = Math.round(y[i] * fine), c = classes ? classes[i] : 0;
      for (const [dy, half] of spans) {
        if (cy + dy < 0 || cy + dy >= height) continue;
        const end = Math.min(width, cx + half);
        for (let at = Math.max(0, cx - half); at < end; at++) {
          const k = (cy + dy) * width + at;
          cover[k] += 1;
          if (c > best[k]) best[k] = c;
        }
      }
    }
  }
  squares(x, y, rows, classes) { // of two pixels, of many trials
    const { cover, best, width, height, fine } = this, right = width - 1, bottom = height - 1;
    for (let i = 0; i < x.length; i++) {
      const left = x[i] * fine | 0, top = y[i] * fine | 0; // 0: NaN
      if (rows[i] === 0 || left <= 0 || top <= 0 || left >= right || top >= bottom) continue;
      const k = top * width + left, c = classes ? classes[i] : 0;
      cover[k]++; cover[k + 1]++; cover[k + width]++; cover[k + width + 1]++;
      if (c > best[k]) best[k] = c;
      if (c > best[k + 1]) best[k + 1] = c;
      if (c > best[k + width]) best[k + width] = c;
      if (c > best[k + width + 1]) best[k + width + 1] = c;
    }
  }
  // A line from (x0, y0) to (x1, y1) for `weight` trials, x0 < x1.
  line(x0, y0, x1, y1, weight, c, smooth) {
    const { cover, best, width } = this, slope = (y1 - y0) / (x1 - x0);
    let y = y0;
    if (!smooth) {
      for (let x = x0; x < x1; x++, y += slope) {
        const k = (y | 0) * width + x;
        cover[k] += weight;
        if (c > best[k]) best[k] = c;
      }
      return;
    }
    const across = Math.hypot(1, slope), steep = Math.min(across, 3); // wider where it is steep
    for (let x = x0; x < x1; x++, y += slope) {
      for (let k = Math.max(0, Math.ceil(y - steep)); k < y + steep; k++) {
        const part = Math.min(1, 1.1 - Math.abs(k - y) / across);
        if (part <= 0) continue;
        cover[k * width + x] += part * weight;
        if (c > best[k * width + x]) best[k * width + x] = c;
      }
    }
  }
  // Paints what was covered over what is there. few: every one is opaque.
  end(colours, strength, few, floor = 0.35) {
    const { cover, best, words } = this, size = words.length;
    let most = 1;
    for (let k = 0; k < size; k++) if (cover[k] > most) most = cover[k];
    const alpha = new Int32Array(1025); // of a cover of 1 to most, by its logarithm; below 1 in proportion
    const scale = few ? 0 : 1 / Math.log(1 + most), bend = 1024 / Math.sqrt(most);
    for (let a = 0; a <= 1024; a++)
      alpha[a] = Math.round(255 * strength * (few ? 1 : floor + (1 - floor) * Math.log(1 + (a / bend) ** 2) * scale));
    for (let k = 0; k < size; k++) {
      const c = cover[k];
      if (c === 0) continue;
      const a = alpha[Math.sqrt(c) * bend | 0];
      words[k] = colours[best[k]] | (c < 1 ? c * a : a) << 24;
    }
  }
  put() { this.pen.putImageData(this.image, 0, 0); }
}
