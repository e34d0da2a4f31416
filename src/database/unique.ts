import { Refusal, type RefusalCode } from '../errors.ts';
import { violatedUnique } from './violated-unique.ts';

interface DuplicateRefusal {
  /** `already_exists` unless said otherwise. */
  code?: RefusalCode;
  message: string;
  hint?: string;
}

/** The write's result; what a unique index refuses becomes this refusal. */
export async function refusingDuplicate<T>(writing: Promise<T>, refusal: DuplicateRefusal): Promise<T> {
  try {
    return await writing;
  } catch (error) {
    if (violatedUnique(error) === null) throw error;
    const { code = 'already_exists', message, hint } = refusal;
    throw new Refusal(code, message, { ...(hint === undefined ? {} : { hint }), cause: error });
  }
}

/** Runs the work, and once more when a unique index refused it: somebody else has just written the row it now finds. */
export async function retryOnceOnDuplicate<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const written = error instanceof Refusal ? error.cause : error;
    if (violatedUnique(written) === null) throw error;
    return work();
  }
}
