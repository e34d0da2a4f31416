/** The result of the work, or after `milliseconds` that of `late`, which may throw. */
export async function inTime<T>(
  milliseconds: number,
  work: () => Promise<T>,
  late: () => T,
): Promise<T> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, milliseconds);
  try {
    return await Promise.race([work(), promise.then(late)]);
  } finally {
    clearTimeout(timer);
  }
}
