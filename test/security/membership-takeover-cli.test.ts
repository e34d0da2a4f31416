import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fresh, organization, password, verifiedDomain } from '../support/builders.ts';
import { counterpartMissing } from '../support/counterpart.ts';
import { main, surroundings, typedProgram } from '../support/daemon.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { type Answers, inTerminal } from '../support/pseudo-terminal.ts';

// If a stranger may have made the account, `idctl member add` asks the operator first (I3).

describe('I3 the operator adds a member', { timeout: 120_000 }, () => {
  let idctl: Idctl;
  let env: Record<string, string>;
  beforeAll(async () => {
    idctl = await openIdctl({ signup: { open: 'on' } });
    const { config } = idctl.app;
    env = {
      ...surroundings(),
      TERM: 'xterm',
      IDCTL_CONFIG: join(config.keyFile, '../idctl.yaml'),
      IDCTL_DATABASE: config.database.url,
      IDCTL_KEY_FILE: config.keyFile,
      IDCTL_BASE_URL: config.baseUrl,
    };
    await writeFile(join(config.keyFile, '../idctl.yaml'), '# empty\n');
  });
  afterAll(() => idctl?.close());

  /** A stranger's account with a password and a token, from before the domain was verified. */
  async function squatted() {
    const { slug } = await organization(idctl);
    const email = `boss@${fresh('corp')}.test`;
    const client = idctl.client({ keepCookies: true });
    await client.post('/api/v1/auth/signup', { email, password, name: 'Mallory' });
    const { token } = (await client.post('/api/v1/me/tokens', { name: 'for later' })).body;
    await verifiedDomain(idctl, slug, email.split('@')[1]);
    const alive = async () =>
      (await idctl.client().get('/api/v1/me', { 'x-api-key': token })).body?.organizations
        ?.length ?? 'ended';
    const line = `member add ${email} --org ${slug} --role member`;
    return { email, slug, alive, line };
  }

  const run = (line: string): Promise<{ code: unknown; out: string; err: string }> =>
    new Promise((done) => {
      const child = execFile(
        process.execPath,
        [main, ...line.split(' ')],
        { env },
        (error, out, err) => done({ code: error === null ? 0 : error.code, out, err }),
      );
      child.stdin?.end();
    });
  const typed = (line: string, answers: Answers) =>
    inTerminal(`${typedProgram} ${line}`, env, answers);

  test('I3 without a terminal, `member add` names both options, and does nothing until one is given', async () => {
    const [ended, kept] = [await squatted(), await squatted()];
    const unsaid = await run(ended.line);
    expect(unsaid).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringMatching(/--yes.*--keep-credentials/s),
    });
    expect(await ended.alive()).toBe(0);
    expect(await run(`${ended.line} --yes --json`)).toMatchObject({
      code: 0,
      err: '',
      out: expect.stringContaining('"name":"boss"'),
    });
    expect(await ended.alive()).toBe('ended');
    expect(await run(`${kept.line} --keep-credentials`)).toMatchObject({ code: 0, err: '' });
    expect(await kept.alive()).toBe(1);
  });

  test('I3 `member add` does not ask if the account’s address is proved', async () => {
    const { slug } = await organization(idctl);
    const owner = await organization(idctl);
    const line = `member add ${owner.owner.email} --org ${slug} --role member`;
    expect(await run(line)).toMatchObject({ code: 0, err: '' });
  });

  test('I3 `user show` lists the credentials that a stranger made', async () => {
    const { email } = await squatted();
    const { out } = await run(`user show ${email}`);
    expect(out).toContain('not verified: this instance did not send mail');
    expect(out).toMatch(/Signs in with: +a password; 1 token \(\d{4}-\d\d-\d\d\); 1 session/);
  });

  describe.skipIf(counterpartMissing('bsdutils'))('on a terminal', () => {
    test('I3 on a terminal, `member add` lists the credentials that would end, and asks first', async () => {
      const { line, alive } = await squatted();
      const left = await typed(line, [['End its credentials', 'n\r']]);
      expect(left.code).toBe(1);
      expect(left.shown).toContain('a password; 1 token');
      expect(await alive()).toBe(0);
      const added = await typed(line, [['End its credentials', 'y\r']]);
      expect([added.code, await alive()]).toEqual([0, 'ended']);
    });
  });
});
