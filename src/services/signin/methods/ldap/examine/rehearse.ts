import type { Context } from '../../../../../context.ts';
import { rehearse } from '../../../../../database/transaction.ts';
import { type Finding, right, type Step, stepOf } from '../../../../../finding.ts';
import { reasonOfFailure } from '../../../refused.ts';
import { enter } from '../enter.ts';
import type { DirectoryPerson } from '../person.ts';
import { refusalWords } from './words.ts';

/** Rehearses the sign-in of a proven person as steps of an examination, and rolls it back. */
export async function rehearseSignIn(
  ctx: Context,
  connection: { id: string; organizationId: string; uri: string },
  person: DirectoryPerson,
): Promise<Step[]> {
  const asked = rehearse(() => enter(ctx, connection, person, null));
  const reason = await asked.then(() => null, reasonOf);
  const address = (finding: Finding) =>
    stepOf('e-mail', 'an address on a verified domain of the organization', finding);
  const words = reason === null ? undefined : refusalWords[reason];
  if (words !== undefined && reason?.startsWith('email_'))
    return [address({ ok: false, ...words })];
  const entered: Finding = words === undefined ? right('let in') : { ok: false, ...words };
  return [address(right('there')), stepOf('account', 'the person is let in', entered)];
}

/** Why the sign-in would be refused, as a key of `refusalWords`. */
function reasonOf(error: unknown): string {
  const reason = reasonOfFailure(error);
  if (reason === null || !Object.hasOwn(refusalWords, reason)) throw error;
  return reason;
}
