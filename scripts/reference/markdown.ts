/** A table, with the headings of its columns. `|` is escaped. */
export function table(headings: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.map(escaped).join(' | ')} |`;
  return [line(headings), `|${'---|'.repeat(headings.length)}`, ...rows.map(line), ''].join('\n');
}

/** A text as code. */
export function code(text: string): string {
  return `\`${text}\``;
}

/** The text as a sentence. A value at its beginning, such as `off:`, stays as it is. */
export function sentence(text: string): string {
  const isValue = /^[^\s:]+:/.test(text);
  const begun = isValue ? text : `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
  return /[.!?]$/.test(begun) ? begun : `${begun}.`;
}

function escaped(cell: string): string {
  return cell.replaceAll('|', '\\|');
}
