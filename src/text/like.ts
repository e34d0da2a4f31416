/** The pattern of SQL's LIKE, with `ESCAPE '\\'`, for texts that begin with this text. */
export function likePrefix(text: string): string {
  return `${text.replace(/[\\%_]/g, '\\$&')}%`;
}
