import {
  askOperator,
  isHintField,
  isUnworded,
  type Next,
  type OperationName,
  partsOf,
  type Todo,
  worded,
} from '../next.ts';
import { cut } from '../text/cut.ts';
import type { Route } from './route.ts';
import { operationRoutes } from './routes/list.ts';

interface Reach {
  /** The command that the route names. */
  cli: string;
  method?: Route['method'];
  /** Fields that the operation always sends. */
  fields?: Record<string, unknown>;
}

/** The operations whose route is not the first one that names their command. */
const reaches: Partial<Record<OperationName, Reach>> = {
  'client.add-redirect': { cli: 'client set' },
  'client.allow-origin': { cli: 'client set' },
  'client.make-confidential': { cli: 'client set', fields: { public: false } },
  'ldap.create': { cli: 'ldap set', method: 'PUT' },
  'ldap.set-password': { cli: 'ldap set', method: 'PATCH' },
  'member.add-trusted': { cli: 'member add' },
  'sso.create': { cli: 'sso set', method: 'PUT' },
  'sso.set': { cli: 'sso set', method: 'PATCH' },
  'webhook.enable': { cli: 'webhook enable', fields: { enabled: true } },
};

function reachOf(name: OperationName): Reach {
  return reaches[name] ?? { cli: name.replaceAll('.', ' ') };
}

const routes = new Map<string, Route | undefined>();

/** The route of an operation; undefined for an operation of the operator only. */
export function routeOf(name: OperationName): Route | undefined {
  if (!routes.has(name)) {
    const { cli, method } = reachOf(name);
    const is = (route: Route) => route.cli === cli && (method ?? route.method) === route.method;
    routes.set(name, operationRoutes.find(is));
  }
  return routes.get(name);
}

/** Says what to do next, with routes; undefined for nothing. */
export function routeText(next: Next | undefined): string | undefined {
  const text = worded(next, (todo) => {
    const route = todo.by === 'operator' ? undefined : routeOf(todo.operation);
    if (route === undefined) return { text: askOperator(todo), ends: false };
    const lead = todo.say ?? (todo.to === undefined ? '' : `To ${todo.to}`);
    return { text: `${lead}${lead === '' ? '' : ': '}${requestOf(route, todo)}`, ends: true };
  });
  return text === undefined ? undefined : cut(text, maxCharacters.text);
}

/** The request line of a route, with placeholders for unknown parts, and the known fields. */
function requestOf({ method, path, input }: Route, { operation, with: given = {} }: Todo): string {
  const values: Record<string, string | undefined> = { ...given };
  const keys = new Set<string>();
  const filled = path.replace(/:(\w+)/g, (_, key: string) => {
    keys.add(key);
    const value = values[key];
    return value === undefined ? key.toUpperCase() : encodeURIComponent(value);
  });
  const known = Object.entries(values).filter(([key]) => !keys.has(key) && key in input.shape);
  const fields = { ...Object.fromEntries(known), ...reachOf(operation).fields };
  return `${method} ${filled}${Object.keys(fields).length === 0 ? '' : ` ${JSON.stringify(fields)}`}`;
}

/** The longest text of a hint, and the longest JSON of its parts (security X11). */
const maxCharacters = { text: 1000, parts: 2000 };

/** The members of a hint that names an operation: the words, and the value for a program. */
export function hintMembers(next: Next | undefined): { hint?: string; next?: Next } {
  const hint = routeText(next);
  if (hint === undefined) return {};
  const parts = partsOf(next);
  const isValue = parts.some((part) => typeof part === 'object' && 'operation' in part);
  if (!isValue || JSON.stringify(parts).length > maxCharacters.parts) return { hint };
  return { hint, next: parts };
}

/** A view in which each hint is text, with its value beside it. */
export function withHints(view: unknown): unknown {
  if (Array.isArray(view)) return view.map(withHints);
  if (typeof view !== 'object' || view === null) return view;
  return Object.fromEntries(
    Object.entries(view).flatMap(([name, value]) => {
      if (!isHintField(name) || !isUnworded(value)) return [[name, withHints(value)]];
      const { hint, ...more } = hintMembers(value);
      return Object.entries({ [name]: hint, ...more });
    }),
  );
}
