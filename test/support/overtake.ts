import type { Model, ModelStatic } from 'sequelize';
import { Identity } from '../../src/database/models/identity.ts';

/**
 * Runs `first`. Right after its first query for a row of the model, by default a linked identity,
 * runs all of `second`.
 */
export async function overtake<First, Second>(
  first: () => Promise<First>,
  second: () => Promise<Second>,
  model: ModelStatic<Model> = Identity,
): Promise<[First, Second]> {
  let overtaking: Promise<Second> | undefined;
  model.addHook('afterFind', 'overtake', async () => {
    if (overtaking !== undefined) return;
    overtaking = second();
    await overtaking;
  });
  try {
    const done = await first();
    if (overtaking === undefined) throw new Error(`no ${model.name} was looked for`);
    return [done, await overtaking];
  } finally {
    model.removeHook('afterFind', 'overtake');
  }
}
