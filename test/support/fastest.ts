/** The fewest milliseconds of five runs, because the machine does other work too. */
export async function fastest(work: () => unknown): Promise<number> {
  const took: number[] = [];
  for (let run = 0; run < 5; run += 1) {
    const began = performance.now();
    await work();
    took.push(performance.now() - began);
  }
  return Math.min(...took);
}
