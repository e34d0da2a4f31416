import { Refusal, refuseField } from '../../errors.ts';
import { pathKeys, type Route } from '../../http/route.ts';
import { operationRoutes } from '../../http/routes/list.ts';
import { parse } from '../../input.ts';
import { isHintField, readNext } from '../../next.ts';
import { onlyOnHost } from '../reach.ts';
import type { CommandDoor, Runs } from '../run.ts';
import { organizationsOf, readAccount } from './account.ts';
import { openRemoteClient, type RemoteRequest } from './client.ts';
import type { Server } from './find.ts';
import { serverFailed } from './refusals.ts';

type Input = Record<string, unknown>;

const routes = new Map<object, Route>(operationRoutes.map((route) => [route.operation, route]));

/** Runs operations on a remote server, through their routes, as the account of the token. */
export function remoteDoor(server: Server): CommandDoor {
  const client = openRemoteClient(server);
  const send = async <View>(
    operation: Runs<View>,
    given: Input,
    dryRun: boolean,
  ): Promise<View> => {
    if (operation.forPeople === undefined || given['user'] !== undefined)
      parse(operation.input, given);
    const route = routes.get(operation.forPeople ?? operation);
    if (route === undefined) throw new Error('a remote command runs an operation without a route');
    const input = operation.forPeople === undefined ? given : await own(given);
    if (operation.forPeople !== undefined) parse(route.input, input);
    const answer = await inOrganization(route, input, (whole) =>
      client.ask(requestOf(route, whole, dryRun)),
    );
    // The schema of the answer is the operation's own.
    return readView(route, route.hints ? hintsOf(answer) : answer) as View;
  };
  /** Runs the work in the given organization or IDCTL_ORG. Else tries each one of the account. */
  const inOrganization = async (
    route: Route,
    input: Input,
    work: (whole: Input) => Promise<unknown>,
  ): Promise<unknown> => {
    if (!pathKeys(route.path).includes('org') || input['org'] !== undefined) return work(input);
    const named = process.env['IDCTL_ORG'];
    let missing: unknown = serverFailed('You are not a member of any organization.');
    for (const org of named ? [named] : await organizationsOf(client)) {
      try {
        return await work({ ...input, org });
      } catch (error) {
        if (!(error instanceof Refusal) || !/^(not_found|forbidden)$/.test(error.code)) throw error;
        // Prefer `forbidden`: the object may be in an organization that the account cannot manage.
        if (!(missing instanceof Refusal && missing.code === 'forbidden')) missing = error;
      }
    }
    throw missing;
  };
  /** Drops `--user` if it names the account of the token. Refuses any other account. */
  const own = async ({ user, ...input }: Input): Promise<Input> => {
    if (user === undefined) return input;
    const { id, email } = await readAccount(client);
    const named = String(user).toLowerCase();
    if (named === id || named === email?.toLowerCase()) return input;
    throw refuseField('user', `must be your own account on a remote server: ${email ?? id}`);
  };
  return {
    server: server.url,
    configuration: async () => {
      throw onlyOnHost('Run the command there.');
    },
    operate: (operation, given) => send(operation, given, false),
    rehearse: (operation, given) => send(operation, given, true),
    close: () => client.close(),
  };
}

function requestOf(route: Route, given: Input, dryRun: boolean): RemoteRequest {
  const keys = pathKeys(route.path);
  const path = route.path.replace(/:(\w+)/g, (_, key: string) => segment(key, given[key]));
  const rest = Object.entries(given).filter(
    ([name, value]) => value !== undefined && !keys.includes(name),
  );
  const { method } = route;
  if (method === 'GET') return { method, path, query: texts(rest) };
  if (dryRun && !route.dryRun) throw new Error(`${method} ${route.path} has no dry run`);
  const asking = dryRun ? { dryRun: 'true' } : {};
  if (method === 'DELETE') return { method, path, query: { ...texts(rest), ...asking } };
  return { method, path, query: asking, body: Object.fromEntries(rest) };
}

function texts(fields: [string, unknown][]): Record<string, string> {
  return Object.fromEntries(fields.map(([name, value]) => [name, String(value)]));
}

/** Encodes a part of a path. Refuses dot segments, because they would lead to another route. */
function segment(key: string, value: unknown): string {
  const text = String(value);
  if (/^\.{0,2}$/.test(text)) throw refuseField(key, 'must not be empty, . or ..');
  return encodeURIComponent(text);
}

/** The view with the values of its hints. An older server sends only their text. */
function hintsOf(view: unknown): unknown {
  if (Array.isArray(view)) return view.map(hintsOf);
  if (typeof view !== 'object' || view === null) return view;
  const whole: [string, unknown][] = Object.entries(view);
  const field = whole.findLast(([name, value]) => isHintField(name) && typeof value === 'string');
  const hint = field && readNext(whole.find(([name]) => name === 'next')?.[1]);
  if (field === undefined || hint == null)
    return Object.fromEntries(whole.map(([name, value]) => [name, hintsOf(value)]));
  const rest = whole.filter(([name]) => name !== 'next');
  return Object.fromEntries(rest.map((one) => (one[0] === field[0] ? [one[0], hint] : one)));
}

/** Checks the answer against the schema of the route. */
function readView(route: Route, answer: unknown): unknown {
  if (route.output === undefined) return undefined;
  const view = route.output.safeParse(answer);
  if (view.success) return view.data;
  throw serverFailed('This idctl cannot read the answer of the server.', {
    hint: 'Use an idctl of the same version as the server.',
  });
}
