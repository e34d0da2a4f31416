// CSV that people open with a spreadsheet.

// A spreadsheet runs a cell that begins like this as a formula (security X9). A leading apostrophe
// turns the cell into plain text. A formula behind apostrophes gets one more, because `meantBy`
// removes exactly one.
const formula = String.raw`(?:[\t\r\n]|\s*[=+\-@＝＋－＠])`;
const beginsFormula = new RegExp(`^'*${formula}`);
const madeText = new RegExp(`^'+${formula}`);

/** Writes rows as CSV lines, with no cell that a spreadsheet would run. */
export async function csvOf(rows: string[][]): Promise<string> {
  const { stringify } = await import('csv-stringify/sync');
  const cells = rows.map((row) => row.map(asText));
  // Quotes cells with these characters, because some spreadsheets split cells there.
  return stringify(cells, { quoted_match: /[;\t\r\n]/ });
}

function asText(cell: string): string {
  return beginsFormula.test(cell) ? `'${cell}` : cell;
}

/** The text of a cell that `csvOf` has written. */
export function meantBy(cell: string): string {
  return madeText.test(cell) ? cell.slice(1) : cell;
}
