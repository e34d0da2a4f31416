import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');

/** An import of one source file by another. */
export interface Import {
  from: string;
  to: string;
  /** Whether it imports only types, which do not exist at run time. */
  typeOnly: boolean;
  /** Whether the file loads only when `import()` runs. */
  lazy: boolean;
}

/** Every TypeScript file below src/, as a path from the checkout. */
export function sourceFiles(): string[] {
  return readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join('src', name))
    .sort();
}

/** The text of a file of the checkout. */
export function textOf(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}

const statement =
  /^(?:import|export) (type )?([^;'"]*?)\s*from '(\.[^']+)';|\bimport\('(\.[^']+)'\)/gm;

/** Every import between files below src/, dynamic ones too. */
export function importsOf(files: string[]): Import[] {
  const known = new Set(files);
  return files.flatMap((from) =>
    [...textOf(from).matchAll(statement)].flatMap(([, type, names = '', path, lazy]) => {
      const to = relative(root, resolve(root, dirname(from), path ?? lazy ?? ''));
      const typeOnly = lazy === undefined && (type !== undefined || onlyTypes(names));
      return known.has(to) ? [{ from, to, typeOnly, lazy: lazy !== undefined }] : [];
    }),
  );
}

function onlyTypes(names: string): boolean {
  const listed = /^\{([^}]*)\}$/.exec(names.trim())?.[1]?.split(',') ?? [];
  const given = listed.map((name) => name.trim()).filter((name) => name !== '');
  return given.length > 0 && given.every((name) => name.startsWith('type '));
}

/** The files that load with these files, without any `import()`. */
export function loadedWith(files: string[], imports: Import[]): string[] {
  const next = Map.groupBy(
    imports.filter(({ typeOnly, lazy }) => !typeOnly && !lazy),
    ({ from }) => from,
  );
  const loaded = new Set(files);
  for (const file of loaded) for (const { to } of next.get(file) ?? []) loaded.add(to);
  return [...loaded];
}

/** The floors of services/, lowest first: a value import points down or stays on its floor. */
export const floors = ['foundation', 'people', 'tenancy', 'provisioning', 'signin', 'instance'];

/** The floor of a file and its feature there; null for a file outside services/. */
export function placeOf(file: string): { floor: string; feature: string } | null {
  const [, floor, part] = /^src\/services\/([^/]+)\/([^/]+)/.exec(file) ?? [];
  return floor === undefined || part === undefined ? null : { floor, feature: `${floor}/${part}` };
}

/** The value imports between two features of services/. */
export function featureImports(imports: Import[]) {
  return imports.flatMap(({ from, to, typeOnly }) => {
    const [one, other] = [placeOf(from), placeOf(to)];
    if (typeOnly || one === null || other === null || one.feature === other.feature) return [];
    return [{ from: one, to: other, files: `${from} → ${to}` }];
  });
}

/** The groups of two or more nodes that reach each other (Tarjan). */
export function cyclesOf(edges: [string, string][]): string[][] {
  const next = Map.groupBy(edges, ([from]) => from);
  const order = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const found: string[][] = [];
  const visit = (node: string): number => {
    const place = order.size;
    order.set(node, place);
    stack.push(node);
    let least = place;
    for (const [, to] of next.get(node) ?? []) {
      if (!order.has(to)) least = Math.min(least, visit(to));
      else if (stack.includes(to)) least = Math.min(least, low.get(to) ?? order.get(to) ?? place);
    }
    low.set(node, least);
    if (least === place) {
      const group = stack.splice(stack.indexOf(node));
      if (group.length > 1) found.push(group.sort());
    }
    return least;
  };
  for (const node of next.keys()) if (!order.has(node)) visit(node);
  return found;
}
