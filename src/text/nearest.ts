/** Longer names are not compared: no known name is that long, and comparing them is slow. */
const longest = 100;

/** The known name that is most like the given one, or null if none is near. */
export function nearest(name: string, known: string[]): string | null {
  if (name.length > longest) return null;
  const plain = (text: string) => text.toLowerCase().replaceAll(/[^a-z0-9.]/g, '');
  const ranked = known
    .map((candidate) => {
      const last = candidate.slice(candidate.lastIndexOf('.') + 1);
      const whole = distance(plain(name), plain(candidate));
      return { candidate, far: Math.min(whole, distance(plain(name), plain(last))) };
    })
    .sort((a, b) => a.far - b.far);
  const [best] = ranked;
  return best !== undefined && best.far <= Math.max(1, name.length / 4) ? best.candidate : null;
}

/** The number of characters to insert, delete or replace; 1 if only their order differs. */
function distance(a: string, b: string): number {
  if (a !== b && [...a].toSorted().join() === [...b].toSorted().join()) return 1;
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, sign] of [...a].entries()) {
    let before = i + 1;
    row = row.map((above, j) => {
      if (j === 0) return before;
      const replaced = (row[j - 1] ?? 0) + (sign === b[j - 1] ? 0 : 1);
      before = Math.min(above + 1, before + 1, replaced);
      return before;
    });
  }
  return row[b.length] ?? a.length;
}
