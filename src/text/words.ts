/** The count with its noun, such as `1 session` or `3 sessions`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** The number of people, such as `1 person` or `3 people`. */
export function persons({ length }: readonly unknown[]): string {
  return counted(length, 'person', 'people');
}

/** Joins the sentences that are not empty into one line. */
export function sentences(all: string[]): string {
  return all.filter((sentence) => sentence !== '').join(' ');
}
