import { Refusal } from '../../../../errors.ts';

/** The view; null if the object does not exist. */
export async function ifThere<View>(showing: Promise<View>): Promise<View | null> {
  try {
    return await showing;
  } catch (error) {
    if (error instanceof Refusal && error.code === 'not_found') return null;
    throw error;
  }
}
