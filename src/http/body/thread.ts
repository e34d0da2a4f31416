import { createThread } from '../../host/thread.ts';
import type { Route } from '../route.ts';
import { joinSlices, type Slices } from './slices.ts';

// Parses and checks large bodies in a thread: on the main thread, this would block other requests
// (security X11). The process has one such thread.

/**
 * Bodies of routes that are larger than this wait for a place (`place.ts`), and the thread checks
 * them: the schema takes 0.1 ms a KiB.
 */
export const largeBody = 256 * 1024;

/** A body for the thread. Without a route, the thread only parses it. */
export interface BodyQuestion {
  bytes: Uint8Array;
  route: { name: string; fromRequest: Record<string, unknown> } | null;
}

// A checkout has the source file, a release the compiled file.
const program = import.meta.url.endsWith('.ts')
  ? new URL('./body-worker.ts', import.meta.url)
  : new URL('./body-worker.js', import.meta.url);

const thread = createThread<BodyQuestion, Slices>(program);

/** Parses and checks the body of a route in the thread. */
export async function checkInThread(
  { method, path }: Route,
  bytes: Uint8Array<ArrayBuffer>,
  fromRequest: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  // The schema of a route is an object.
  return (await ask(bytes, { name: `${method} ${path}`, fromRequest })) as Record<string, unknown>;
}

/** Parses a JSON body in the thread. */
export function parseInThread(bytes: Uint8Array<ArrayBuffer>): Promise<unknown> {
  return ask(bytes, null);
}

async function ask(bytes: Uint8Array<ArrayBuffer>, route: BodyQuestion['route']): Promise<unknown> {
  return joinSlices(await thread.ask({ bytes, route }, [bytes.buffer]));
}
