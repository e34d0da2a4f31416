import { Refusal, type RefusalCode } from '../errors.ts';
import { databaseRefusal } from './refusals.ts';
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

/**
 * Runs the work, and once more when it was overtaken: somebody else has just written the row that it now finds, or removed
 * one that it referred to and does not find any more.
 */
export async function retryOnceWhenOvertaken<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const written = error instanceof Refusal ? error.cause : error;
    const removed = !(error instanceof Refusal) && databaseRefusal(error)?.code === 'not_found';
    if (violatedUnique(written) === null && !removed) throw error;
    return work();
  }
}
