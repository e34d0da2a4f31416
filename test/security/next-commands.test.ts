import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commandText } from '../../src/cli/next.ts';
import { Account } from '../../src/database/models/account.ts';
import { Organization } from '../../src/database/models/organization.ts';
import { transaction } from '../../src/database/transaction.ts';
import { Refusal } from '../../src/errors.ts';
import { checkStored } from '../../src/services/instance/doctor/stored.ts';
import { createUser, disableUser } from '../../src/services/people/users/operations.ts';
import { createLoginLink } from '../../src/services/signin/methods/link.ts';
import { verifyDomain } from '../../src/services/tenancy/domains/operations.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { organization, person } from '../support/builders.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';

// Security X9: the operator copies the next command from a message. A stranger's name in it must
// stay one word.

const run = promisify(execFile);
const hostile = 'zed`echo canary >&2`@evil.test';
const called = 'Eve; echo canary >&2; $(echo canary >&2)';

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl();
});
afterAll(() => idctl.close());

/** The arguments that idctl gets if a person types the command in the text. */
async function wordsOf(text: string | undefined): Promise<string[]> {
  const [command = ''] = /idctl [^;]*/.exec(text ?? '') ?? [];
  const { stdout, stderr } = await run('sh', [
    '-c',
    `idctl() { printf '%s\\0' "$@"; }\n${command}`,
  ]);
  expect(stderr).toBe('');
  return stdout.split('\0').slice(0, -1);
}

async function hintOf(work: Promise<unknown>): Promise<string | undefined> {
  const error = await work.catch((thrown: unknown) => thrown);
  if (!(error instanceof Refusal)) throw error;
  return commandText(error.hint);
}

test.each([hostile, '-n@evil.test'])(
  'X9 the command in a hint names %s as one word',
  async (email) => {
    await createUser(idctl.operator(), { email, name: 'Eve' });
    const { slug } = await organization(idctl);
    const twice = createUser(idctl.operator(), { email, name: 'Eve' });
    const words = await wordsOf(await hintOf(twice));
    expect(words.filter((word) => word !== '--')).toEqual(['user', 'show', email]);
    const unknown = `x${email}`;
    const missing = addMember(idctl.operator(), { org: slug, email: unknown, role: 'member' });
    expect(await wordsOf(await hintOf(missing))).toEqual([
      'user',
      'create',
      unknown,
      '--name',
      'NAME',
    ]);
    await disableUser(idctl.operator(), { user: email });
    const link = await wordsOf(await hintOf(createLoginLink(idctl.operator(), { user: email })));
    expect(link.filter((word) => word !== '--')).toEqual(['user', 'enable', email]);
  },
);

test('X9 the next command names an account without an address by its id, never by its name', async () => {
  const { id, slug, owner } = await organization(idctl);
  const nameless = { email: null, name: called, passwordHash: null };
  await transaction(() => Account.update(nameless, { where: { id: owner.id } }));
  const org = await Organization.findByPk(id, { rejectOnEmpty: true });
  const checks = await checkStored(idctl.operator(), [org]);
  const stuck = checks.find(({ name }) => name === `owners of ${slug}`);
  expect(stuck).toMatchObject({ ok: false, message: expect.stringContaining(called) });
  expect(await wordsOf(commandText(stuck?.hint))).toEqual(['user', 'login-link', owner.id]);
  await disableUser(idctl.operator(), { user: owner.id });
  const link = createLoginLink(idctl.operator(), { user: owner.id });
  expect(await wordsOf(await hintOf(link))).toEqual(['user', 'enable', owner.id]);
});

test('X9 the next command names an organization as one word, whatever its slug contains', async () => {
  const { id } = await organization(idctl);
  await person(idctl);
  const slug = 'a b`echo canary >&2`';
  await transaction(() => Organization.update({ slug }, { where: { id } }));
  const hint = await hintOf(verifyDomain(idctl.operator(), { org: id, domain: 'acme.test' }));
  expect(await wordsOf(hint)).toEqual(['domain', 'add', 'acme.test', '--org', slug]);
});
