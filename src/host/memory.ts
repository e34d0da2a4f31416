/** The key of what one process remembers between requests. Losing it does no harm. */
export type Memory = Readonly<Record<never, never>>;

/** Creates the empty memory of a process. */
export function createMemory(): Memory {
  return {};
}

/** A part of the memory, which one feature keeps. `make` creates it at its first use. */
export function remembered<Part>(make: () => Part): (of: { memory: Memory }) => Part {
  const parts = new WeakMap<Memory, Part>();
  return ({ memory }) => {
    const part = parts.get(memory) ?? make();
    parts.set(memory, part);
    return part;
  };
}
