import { type Answer, createClient } from './http.ts';
import type { Stage } from './mixed-load.ts';

/** Accounts that are added to the organization and removed. */
export const memberEmails = Array.from({ length: 6 }, (_, at) => `member${at}@acme.test`);

const patchSchema = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';

/** The workers that write members: three SCIM clients, and an owner. */
export function peopleWriters(stage: Stage): (() => Promise<void>)[] {
  const names = Array.from({ length: 3 }, () => crypto.randomUUID().slice(0, 8));
  return [...names.map((name) => scimClient(stage, name)), owner(stage)];
}

/** Creates, renames, deletes and reactivates its own users. */
function scimClient(stage: Stage, name: string): () => Promise<void> {
  const { ledger, random, scim } = stage;
  const headers = {
    authorization: `Bearer ${scim.token}`,
    'content-type': 'application/scim+json',
  };
  const send = (method: string, path: string, body?: object) =>
    createClient(stage.url).send(method, `${scim.users}${path}`, { body, headers });
  const patch = (id: string, path: string, value: unknown) =>
    send('PATCH', `/${id}`, {
      schemas: [patchSchema],
      Operations: [{ op: 'replace', path, value }],
    });
  const users: { id: string; subject: string }[] = [];
  let made = 0;
  const create = async () => {
    made += 1;
    const userName = `${name}-${made}@acme.test`;
    const subject = `SCIM ${userName}`;
    const body = await ledger.write(`create ${userName}`, { [subject]: 'active Name' }, () =>
      send('POST', '', { userName, displayName: 'Name' }),
    );
    if (body !== null) users.push({ id: body.id, subject });
  };
  const change = async ({ id, subject }: (typeof users)[number]) => {
    const [, state, shown] = /^(\w+) (.*)$/.exec(String(ledger.stateOf(subject))) ?? [];
    made += 1;
    if (state === 'inactive')
      await ledger.write(`activate ${subject}`, { [subject]: `active ${shown}` }, () =>
        patch(id, 'active', true),
      );
    else if (random() < 0.5)
      await ledger.write(`rename ${subject}`, { [subject]: `active Name ${made}` }, () =>
        patch(id, 'displayName', `Name ${made}`),
      );
    else
      await ledger.write(`delete ${subject}`, { [subject]: `inactive ${shown}` }, () =>
        outcome(stage, send('DELETE', `/${id}`)),
      );
  };
  return async () => {
    const settled = users.filter(({ subject }) => ledger.isSettled(subject));
    const user = settled[Math.floor(random() * settled.length)];
    if (user === undefined || random() < 0.4) await create();
    else await change(user);
  };
}

/** Adds members by hand and removes them. */
function owner(stage: Stage): () => Promise<void> {
  const { ledger, random } = stage;
  const headers = { authorization: `Bearer ${stage.ownerToken}` };
  const send = (method: string, path: string, body?: object) =>
    createClient(stage.url).send(method, `/api/v1/orgs/acme/members${path}`, { body, headers });
  return async () => {
    const settled = memberEmails.filter((email) => ledger.isSettled(`member ${email}`));
    const email = settled[Math.floor(random() * settled.length)];
    if (email === undefined) return;
    const subject = `member ${email}`;
    if (ledger.stateOf(subject) === 'live')
      await ledger.write(`remove ${email}`, { [subject]: 'gone' }, () =>
        outcome(stage, send('DELETE', `/${email}`)),
      );
    else
      await ledger.write(`add ${email}`, { [subject]: 'live' }, () =>
        send('POST', '', { email, role: 'member' }),
      );
  };
}

/**
 * The answer to a DELETE. Throws for a 404 if the proxy may have sent the DELETE twice: the daemon
 * that did not answer the first may have done it.
 */
async function outcome({ repeatsDelete }: Stage, deleting: Promise<Answer>): Promise<Answer> {
  const answer = await deleting;
  if (repeatsDelete && answer.status === 404) throw new Error('the outcome is not known');
  return answer;
}
