import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify, stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { counterpartMissing } from '../support/counterpart.ts';
import { main, surroundings, typedProgram } from '../support/daemon.ts';
import { freshDatabaseUrl } from '../support/database.ts';
import { inTerminal } from '../support/pseudo-terminal.ts';

const run = promisify(execFile);
const missing = (shell: 'bash' | 'zsh') =>
  counterpartMissing('bsdutils') || counterpartMissing(shell);

describe('interface page: idctl completion bash|zsh|fish', { timeout: 120_000 }, () => {
  let folder: string;
  let env: Record<string, string>;
  const idctl = async (...words: string[]) => {
    return (await run(process.execPath, [main, ...words], { env })).stdout;
  };
  /** The completions that a shell gets for Tab at the end of these words. */
  const asked = async (...words: string[]) => {
    const lines = (await idctl('__complete', ...words)).split('\n').filter((line) => line !== '');
    return lines.map((line) => line.split('\t')[0]);
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'idctl-completion-'));
    const bin = join(folder, 'bin');
    await mkdir(bin);
    const script = `#!/bin/sh\nexec ${typedProgram} "$@"\n`;
    await writeFile(join(bin, 'idctl'), script, { mode: 0o755 });
    const base = surroundings();
    env = {
      ...base,
      PATH: `${bin}${delimiter}${base['PATH']}`,
      HOME: folder,
      TERM: 'xterm',
      IDCTL_CONFIG: join(folder, 'idctl.yaml'),
      IDCTL_DATABASE: await freshDatabaseUrl(),
    };
    await idctl('init', '--yes', '--org', 'Acme', '--owner', 'ada@acme.test');
    await idctl('org', 'create', 'Åre %_ Café', '--slug', 'are');
    await idctl('project', 'create', 'Web', '--org', 'acme');
    await idctl('project', 'create', 'Wiki', '--org', 'are');
    await idctl('domain', 'add', 'acme.test', '--org', 'acme');
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test('completes commands, flags, and the values of a fixed set', async () => {
    expect(await asked('or')).toEqual(['org']);
    expect(await asked('scim', 'token', 'r')).toEqual(['rotate', 'revoke']);
    expect(await asked('org', 'delete', 'acme', '--dr')).toEqual(['--dry-run']);
    expect(await asked('member', 'add', 'ada@acme.test', '--role', '')).toEqual([
      'member',
      'admin',
      'owner',
    ]);
    expect(await asked('mappings', 'add', '--org-role', '')).toEqual(['member', 'admin']);
    expect(await asked('client', 'set', 'x', '--role', 'v')).toEqual(['viewer']);
    expect(await asked('client', 'test', 'x', '--user', 'ad')).toEqual(['ada@acme.test']);
    expect(await asked('sso', 'set', '--absent-groups=n')).toEqual(['--absent-groups=none']);
    expect(await asked('completion', 'z')).toEqual(['zsh']);
    expect(await asked('--config', '')).toEqual([':files']);
    expect(await asked('plan', '--secrets', '')).toEqual([':files']);
    expect(await asked('event', 'list', '--kind', 'domain.v')).toEqual(['domain.verified']);
    expect(await asked('org', 'create', '')).toEqual([]);
    expect(await asked('member', 'r')).toEqual(['role', 'remove', 'reset-second-factor']);
    expect(await asked('org', 'n')).toEqual([]);
    expect(await asked('org', 'rm', 'acme', '--dr')).toEqual(['--dry-run']);
  });

  test('completes organizations, users, domains and projects from the database', async () => {
    expect(await asked('org', 'show', '')).toEqual(['acme', 'are']);
    expect(await asked('org', 'show', '%')).toEqual([]);
    expect(await asked('user', 'show', 'ada@')).toEqual(['ada@acme.test']);
    expect(await asked('member', 'add', 'a')).toEqual(['ada@acme.test']);
    expect(await asked('domain', 'verify', '--org', 'acme', '')).toEqual(['acme.test']);
    expect(await asked('domain', 'verify', '--org=are', '')).toEqual([]);
    expect(await asked('project-member', 'list', '--org', 'are', '--project', 'w')).toEqual([
      'wiki',
    ]);
    expect(await asked('project', 'delete', 'w')).toEqual(['web', 'wiki']);
    expect(await asked('doctor', '--org=a')).toEqual(['--org=acme', '--org=are']);
  });

  test('offers nothing and prints no error when the database cannot be read', async () => {
    const words = ['__complete', 'org', 'show', ''];
    for (const more of [{ IDCTL_DATABASE: 'sqlite:nowhere.db' }, { IDCTL_LISTEN: 'nowhere' }]) {
      const { stdout, stderr } = await run(process.execPath, [main, ...words], {
        env: { ...env, ...more },
      });
      expect([stdout, stderr]).toEqual(['', '']);
    }
  });

  test.skipIf(missing('bash'))('bash completes on Tab, also an address with @', async () => {
    await writeFile(join(folder, 'rc'), `PS1='> '\neval "$(idctl completion bash)"\n`);
    const { shown } = await inTerminal(`bash --rcfile '${join(folder, 'rc')}'`, env, [
      ['> ', 'idctl org show ac\t--quiet --json\r'],
      ['createdAt', 'idctl user show --json ada@\t\r'],
      ['locale', 'exit\r'],
    ]);
    expect(stripVTControlCharacters(shown)).toContain('"slug": "acme"');
    expect(stripVTControlCharacters(shown)).toContain('"email": "ada@acme.test"');
  });

  test.skipIf(missing('zsh'))('zsh completes on Tab', async () => {
    const rc = `PS1='> '\nautoload -U compinit; compinit -D -u; eval "$(idctl completion zsh)"\n`;
    await writeFile(join(folder, '.zshrc'), rc);
    const { shown } = await inTerminal('zsh -i', { ...env, ZDOTDIR: folder }, [
      ['> ', 'idctl user show --json ada@\t\r'],
      ['locale', 'exit\r'],
    ]);
    expect(stripVTControlCharacters(shown)).toContain('"email": "ada@acme.test"');
  });

  test.skipIf(counterpartMissing('fish'))(
    'fish completes, and shows what each value means',
    async () => {
      const ask = `idctl completion fish | source; complete -C 'idctl org show a'; complete -C 'idctl user show ada@'`;
      const { stdout } = await run('fish', ['--no-config', '-c', ask], { env });
      expect(stdout).toBe('acme\tAcme\nare\tÅre %_ Café\nada@acme.test\tada\n');
    },
  );
});
