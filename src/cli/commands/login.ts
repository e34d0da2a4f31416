import { resolve } from 'node:path';
import type { Command } from 'commander';
import { noun, verb } from '../command.ts';
import type { Fields } from '../output.ts';
import { secretOrAsk } from '../prompt.ts';
import type { Call } from '../run.ts';

const servers = () => import('../remote/servers.ts');

/** A stored server without its token. */
interface View {
  name: string;
  url: string;
  current: boolean;
  caFile: string | null;
}

const row: Fields<View> = [
  ['Name', (view) => view.name, 'whole'],
  ['URL', (view) => view.url, 'whole'],
  ['In use', (view) => view.current],
  ['CA file', (view) => view.caFile],
];

const loggedIn: Fields<View & { email: string | null }> = [
  ['Account', (view) => view.email],
  ...row,
];

export function addLoginCommand(program: Command): void {
  verb(program, 'login <url>', {
    summary: 'Store a remote server and a token for later commands',
    detail:
      'Later commands use this server, unless --server or IDCTL_SERVER names another, or this host has a configuration. The token is stored in servers.yaml, which only you can read.',
    options: {
      '--token-stdin': 'read the token from standard input',
      '--token-file <file>': 'read the token from a file',
      '--ca-file <file>': 'certificate authority of the server, PEM (or IDCTL_CA_FILE)',
      '--name <name>': 'a name for the server (default: its host)',
    },
    example: 'idctl login https://id.acme.com --token-stdin <token',
    run: login,
  });
}

async function login(call: Call): Promise<void> {
  const { readCa, requireToken, requireUrl } = await import('../remote/find.ts');
  const { tokenStdin: stdin, tokenFile: file, caFile: given, name } = call.input;
  const url = requireUrl('url', String(call.input['url']));
  const [from, named] =
    typeof given === 'string'
      ? ['--ca-file', given]
      : ['IDCTL_CA_FILE', process.env['IDCTL_CA_FILE']];
  const caFile = named ? resolve(named) : undefined;
  const ca = caFile && (await readCa(from, caFile));
  const source = { name: 'token', stdin, file } as const;
  const token = requireToken('token', await secretOrAsk(source, `Token for ${url}`));
  const { whoIs } = await import('../remote/account.ts');
  const { email } = await whoIs({ url, token, ca });
  const { storeServer } = await servers();
  const stored = {
    name: typeof name === 'string' ? name : new URL(url).host.replace(/^[^a-z0-9]+|[\]]/g, ''),
    url,
    token,
    ...(caFile === undefined ? {} : { caFile }),
  };
  await storeServer(process.env, stored);
  call.show({ email, ...viewOf({ ...stored, current: true }) }, loggedIn);
}

export function addLogoutCommand(program: Command): void {
  verb(program, 'logout [name]', {
    summary: 'Forget a server and its token; without a name, the one in use',
    detail: 'The token stays valid until it expires or is revoked with idctl pat revoke.',
    example: 'idctl logout id.acme.com',
    run: async (call) => {
      const { forgetServer } = await servers();
      const { name } = call.input;
      const found = await forgetServer(process.env, typeof name === 'string' ? name : undefined);
      call.show(viewOf({ ...found, current: false }), row);
      call.note(
        `The token is still valid. To end it, revoke it on the account page, ${found.url}/. Or the operator runs: idctl pat revoke ID`,
      );
    },
  });
}

export function addServerCommands(program: Command): void {
  const server = noun(program, 'server', {
    summary: 'Servers that you have logged in to',
    example: 'idctl server list',
  });
  verb(server, 'list', {
    summary: 'List the stored servers, without their tokens',
    example: 'idctl server list',
    run: async (call) => {
      const stored = await (await servers()).readServers(process.env);
      call.table(stored.map(viewOf), row, 'You have not logged in to a server.');
    },
  });
  verb(server, 'use <name>', {
    summary: 'Choose the server that commands use',
    example: 'idctl server use id.acme.com',
    run: async (call) => {
      const { useServer } = await servers();
      call.show(viewOf(await useServer(process.env, String(call.input['name']))), row);
    },
  });
}

function viewOf({
  name,
  url,
  current,
  caFile,
}: Omit<View, 'caFile'> & { caFile?: string | undefined }): View {
  return { name, url, current, caFile: caFile ?? null };
}
