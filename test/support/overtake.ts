import { Identity } from '../../src/database/models/identity.ts';

/** Runs `first`. Right after its first query for a linked identity, runs all of `second`. */
export async function overtake<First, Second>(
  first: () => Promise<First>,
  second: () => Promise<Second>,
): Promise<[First, Second]> {
  let overtaking: Promise<Second> | undefined;
  Identity.addHook('afterFind', 'overtake', async () => {
    if (overtaking !== undefined) return;
    overtaking = second();
    await overtaking;
  });
  try {
    const done = await first();
    if (overtaking === undefined) throw new Error('no identity was looked for');
    return [done, await overtaking];
  } finally {
    Identity.removeHook('afterFind', 'overtake');
  }
}
