import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import measure from 'fast-string-truncated-width';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { counterpartMissing } from '../support/counterpart.ts';
import { startDaemon, typedProgram } from '../support/daemon.ts';
import { freshDatabaseUrl } from '../support/database.ts';
import { createClient } from '../support/http.ts';
import { type Answers, inTerminal } from '../support/pseudo-terminal.ts';

const csi = '\u001b[';

describe.skipIf(counterpartMissing('bsdutils'))('on a terminal', { timeout: 120_000 }, () => {
  let folder: string;
  let env: NodeJS.ProcessEnv;
  const idctl = (line: string, answers: Answers = [], more: NodeJS.ProcessEnv = {}) => {
    return inTerminal(`${typedProgram} ${line}`, { ...env, ...more }, answers);
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'idctl-terminal-'));
    const IDCTL_CONFIG = join(folder, 'idctl.yaml');
    env = {
      PATH: process.env['PATH'],
      TERM: 'xterm',
      HOME: folder,
      IDCTL_CONFIG,
      IDCTL_DATABASE: await freshDatabaseUrl(),
    };
  });

  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('init asks for every option that is missing, shows the paths, and creates nothing if the answer is no', async () => {
    const asked: Answers = [
      ['Address at which browsers', '\r'],
      ['Mail server', '\r'],
      ['First organization', '\r'],
      ['E-mail address of its owner', '\r'],
    ];
    const refused = await idctl('init', [...asked, ['Set up an instance there?', 'n\r']]);
    expect(refused.shown).toContain(join(folder, 'master.key'));
    expect(refused.shown).toContain('idctl: Nothing was changed.');
    expect(refused.code).toBe(1);
    const told = 'init --base-url http://127.0.0.1:8420 --org Default --owner admin@idctl.test';
    const agreed = await idctl(told, [
      ['Mail server', '\r'],
      ['Set up an instance there?', 'y\r'],
    ]);
    expect(stripVTControlCharacters(agreed.shown)).toMatch(/Password: +[a-z0-9]{20}/);
    expect(agreed.shown).not.toContain('Address at which');
    expect(agreed.code).toBe(0);
  });

  it('init explains a wrong answer and asks again; only the answers are written', async () => {
    const file = join(folder, 'other', 'idctl.yaml');
    const again = '\u0015';
    const { shown, code } = await idctl(
      `init --config '${file}'`,
      [
        ['Address at which browsers', 'nonsense\r'],
        ['must be an origin', `${again}https://id.acme.test\r`],
        ['Database', 'postgres://x:y@127.0.0.1:1/x\r'],
        ['Leave out the password', `${again}postgres://x@127.0.0.1:1/x\r`],
        ['Password of x', 'of the database\r'],
        ['ECONNREFUSED', '\r'],
        ['Mail server', 'smtp://ada@127.0.0.1:1\r'],
        ['Password of ada', 'of the mail\r'],
        ['First organization', 'Acme Ltd\r'],
        ['E-mail address of its owner', 'nobody\r'],
        ['must be an e-mail', `${again}ada@acme.test\r`],
        ['Set up an instance there?', '\r'],
      ],
      { IDCTL_DATABASE: '' },
    );
    expect(code).toBe(0);
    const plain = stripVTControlCharacters(shown);
    expect(plain).toMatch(
      /warning: The mail server 127\.0\.0\.1:1 could not be used: it refused the connection\./,
    );
    expect(plain).toMatch(/Organization: +Acme Ltd \(acme-ltd\)\r\nOwner: +ada@acme\.test/);
    expect(shown).not.toMatch(/of the (mail|database)/);
    const lines = (await readFile(file, 'utf8'))
      .split('\n')
      .filter((line) => !/^( *#.*)?$/.test(line));
    expect(lines).toEqual([
      'baseUrl: https://id.acme.test',
      'mail:',
      '  smtpUrl: smtp://ada:of%20the%20mail@127.0.0.1:1',
    ]);
  });

  it('Ctrl-C at a question exits with code 130 and prints nothing', async () => {
    const left = await idctl('org delete default', [['Delete Default', '\u0003']]);
    expect(left.code).toBe(130);
    expect(left.shown).not.toContain('idctl:');
    expect((await idctl('org show default')).code).toBe(0);
  });

  it.each(['org delete default', 'user password admin@idctl.test'])(
    'Ctrl-D at the question of %s does the same as Ctrl-C',
    async (line) => {
      const left = await idctl(line, [
        [line.startsWith('org') ? 'Delete' : 'New password', '\u0004'],
      ]);
      expect(left.code).toBe(130);
      expect(left.shown).not.toMatch(/idctl:|Warning/);
    },
  );

  it('a password is asked for twice and never shown', async () => {
    const different = await idctl('user password admin@idctl.test', [
      ['New password', 'one horse battery\r'],
      ['New password again', 'two horse battery\r'],
    ]);
    expect(different.code).toBe(2);
    const same = await idctl('user password admin@idctl.test', [
      ['New password', 'one horse battery\r'],
      ['New password again', 'one horse battery\r'],
    ]);
    expect(same.code).toBe(0);
    expect(different.shown + same.shown).not.toContain('horse');
  });

  it('P5 user password asks before it revokes tokens, and changes nothing if the answer is no', async () => {
    const user = 'admin@idctl.test';
    expect((await idctl(`pat create --user ${user} --name ci`)).code).toBe(0);
    const refused = await idctl(`user password ${user}`, [['also ends 1 token', 'n\r']]);
    expect(refused.shown).toContain('--keep-tokens keeps the tokens.');
    expect(refused.code).toBe(1);
    const agreed = await idctl(`user password ${user}`, [
      ['also ends 1 token', 'y\r'],
      ['New password', 'one horse battery\r'],
      ['New password again', 'one horse battery\r'],
    ]);
    expect(stripVTControlCharacters(agreed.shown)).toMatch(/Tokens ended: +1/);
    expect(agreed.code).toBe(0);
  });

  it('user disable and project delete ask first, and an organization that --org did not give is named', async () => {
    const created = await idctl('user create eve@idctl.test --name Eve --if-absent --quiet');
    expect(created.code).toBe(0);
    const refused = await idctl('user disable eve@idctl.test', [
      ['Disable the account of eve@idctl.test?', 'n\r'],
    ]);
    expect(refused.code).toBe(1);
    expect((await idctl('user show eve@idctl.test --json')).shown).toContain('"disabled": false');
    const agreed = await idctl('user disable eve@idctl.test', [
      ['Disable the account of eve@idctl.test?', 'y\r'],
    ]);
    expect(agreed.code).toBe(0);
    await idctl('project create Web --if-absent');
    const kept = await idctl('project delete web', [['Delete Web', 'n\r']]);
    expect(stripVTControlCharacters(kept.shown)).toContain('Organization: default');
    expect(kept.code).toBe(1);
    const named = await idctl('project delete web --org default --yes');
    expect(named.shown).not.toContain('Organization:');
  });

  it('session revoke asks on a terminal, and says how many sessions end', async () => {
    const keyFile = join(folder, 'master.key');
    const daemon = await startDaemon({ database: env['IDCTL_DATABASE'] ?? '', keyFile });
    const user = 'admin@idctl.test';
    try {
      const login = { email: user, password: 'one horse battery' };
      const client = createClient(daemon.url);
      expect((await client.post('/api/v1/auth/login', login)).status).toBe(200);
      expect((await client.post('/api/v1/auth/login', login)).status).toBe(200);
      const live = async () => (await idctl(`session list --user ${user} --json`)).shown;
      const revoke = `session revoke --user ${user}`;
      const question = `End 2 sessions of ${user}?`;
      expect((await idctl(revoke, [[question, 'n\r']])).code).toBe(1);
      const dry = stripVTControlCharacters((await idctl(`${revoke} --dry-run`)).shown);
      expect(dry).toContain('Dry run: nothing was changed.');
      expect(dry).toMatch(/Ended: +2/);
      expect(JSON.parse(await live())).toHaveLength(2);
      expect((await idctl(revoke, [[question, 'y\r']])).code).toBe(0);
      expect(JSON.parse(await live())).toEqual([]);
    } finally {
      await daemon.stop();
    }
  });

  it('the client secret is asked for only when it is needed', async () => {
    const set = 'sso set --org default --domain acme.test --issuer https://id.acme.test';
    const first = await idctl(`${set} --client-id one`, [['Client secret', 's3cret\r']]);
    expect(stripVTControlCharacters(first.shown)).toMatch(/Client secret: +stored/);
    expect((await idctl(`${set} --client-id one --groups-claim roles`)).code).toBe(0);
  });

  it('sso enable tests the provider first, and asks when a step fails', async () => {
    await idctl('domain add acme.test');
    await idctl('domain verify acme.test --assert --yes');
    const refused = await idctl('sso enable', [['Continue anyway?', 'n\r']]);
    expect(refused.shown).toMatch(/Step \d+, .+, failed: /);
    expect(refused.shown).toContain('Nothing was changed.');
    expect(refused.code).toBe(1);
    expect((await idctl('sso show --json')).shown).toContain('"enabled": false');
    expect((await idctl('sso enable', [['Continue anyway?', 'y\r']])).code).toBe(0);
    // If the new settings fail the test and the answer is no, the connection keeps its settings.
    const kept = await idctl('sso set --groups-claim other', [['Continue anyway?', '\r']]);
    expect(kept.code).toBe(1);
    expect((await idctl('sso show --json')).shown).toContain('"groupsClaim": "roles"');
    expect((await idctl('domain remove acme.test --yes')).code).toBe(0);
  });

  it('totp enroll asks again after a wrong code', async () => {
    const { shown } = await idctl('totp enroll --user admin@idctl.test', [
      ['Code from the app', '000000\r'],
      ['Enter the code that the app shows now', ''],
      ['Code from the app', '\u0003'],
    ]);
    expect(shown).toContain('Enter the code that the app shows now.');
  });

  it('the first page of the help has a line for each command, within 80 columns', async () => {
    const lines = stripVTControlCharacters((await idctl('--help')).shown).split(/\r?\n/);
    expect(lines.filter((line) => widthOf(line) > 80)).toEqual([]);
    expect(lines).toContainEqual(expect.stringMatching(/^ {2}sso {14}\S/));
  });

  it('a refusal breaks lines between words', async () => {
    // There is no second organization yet. With two, these settings would apply to no account.
    const { shown, code } = await idctl('signin set --org default --password off');
    expect(code).toBe(1);
    const lines = stripVTControlCharacters(shown).split(/\r?\n/);
    expect(lines.filter((line) => widthOf(line) > 80)).toEqual([]);
    expect(lines).toContainEqual(expect.stringMatching(/^hint: .{60,}$/));
    expect(lines).toContainEqual(expect.stringMatching(/^ {6}\S/));
  });

  it('output fits 80 columns, also with a long name and wide characters', async () => {
    const name = '株式会社アクメ・ホールディングスの認証'.repeat(2);
    const lines = [
      'org create',
      'org list',
      'member list --org default',
      'status',
      'doctor',
      'config show',
      'event list',
    ];
    const typed = lines.map((line) => `${typedProgram} ${line}`);
    const { shown } = await inTerminal(
      typed.join('; ').replace('org create', `org create ${name} --slug wide`),
      {
        ...env,
        IDCTL_DOH_RESOLVER_URL: 'https://127.0.0.1:1/',
      },
    );
    const plain = stripVTControlCharacters(shown).split(/\r?\n/);
    const paths = new RegExp(`Name:|${folder}|^Database:|^database\\.url `);
    expect(plain.filter((line) => widthOf(line) > 80 && !paths.test(line))).toEqual([]);
    expect(plain.some((line) => line.startsWith('wide ') && line.includes('…'))).toBe(true);
    expect(plain).toContain('    expected: an answer to a DNS query');
    expect(shown).toContain(' organization.created ');
  });

  it('a backup is not written to a terminal', async () => {
    const { shown, code } = await idctl('backup -');
    expect(code).toBe(2);
    expect(shown).toContain('idctl: file: cannot be written to a terminal');
  });

  it('NO_COLOR or a pipe turns colour off', async () => {
    expect((await idctl('org list')).shown).toContain(`${csi}1m`);
    expect((await idctl('org list', [], { NO_COLOR: '1' })).shown).not.toContain(csi);
    expect((await idctl('org list | cat')).shown).not.toContain(csi);
  });

  it('a reader that closes the pipe early causes no error', async () => {
    const idctl = `${typedProgram} config show --quiet`;
    const { shown } = await inTerminal(`(${idctl}; echo "ended with $?" >&2) | head -n 1`, env);
    expect(shown).toContain('KEY');
    expect(shown).toContain('ended with 0');
    expect(shown.trim().split('\n')).toHaveLength(2);
  });
});

/** The columns that a line takes on a terminal. A wide character takes two; only the last redraw counts. */
function widthOf(line: string): number {
  return measure(line.slice(line.lastIndexOf('\r') + 1)).width;
}
