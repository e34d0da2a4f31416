import { Worker } from 'node:worker_threads';
import { type InputFault, Refusal, type RefusalCode } from '../../errors.ts';
import type { Next } from '../../next.ts';
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
export interface ThreadQuestion {
  id: number;
  bytes: Uint8Array;
  route: { name: string; fromRequest: Record<string, unknown> } | null;
}

/** The thread's answer: the value, or why it is refused. */
export type ThreadReply = { id: number } & (
  | { value: Slices }
  | { refused: Refused }
  | { failed: Error }
);

/** The parts of a refusal that a thread can send. */
interface Refused {
  code: RefusalCode;
  message: string;
  faults: InputFault[];
  moreFaults: number;
  hint: Next | undefined;
}

interface Thread {
  worker: Worker;
  waiting: Map<number, (answer: ThreadReply) => void>;
  /** Ends the thread, and frees its memory, after ten seconds without a large body. */
  idle: NodeJS.Timeout;
}

// A checkout has the source file, a release the compiled file.
const program = import.meta.url.endsWith('.ts')
  ? new URL('./body-worker.ts', import.meta.url)
  : new URL('./body-worker.js', import.meta.url);

let thread: Thread | undefined;
let asked = 0;

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

async function ask(
  bytes: Uint8Array<ArrayBuffer>,
  route: ThreadQuestion['route'],
): Promise<unknown> {
  const { worker, waiting, idle } = startedThread();
  asked += 1;
  const question: ThreadQuestion = { id: asked, bytes, route };
  const answer = await new Promise<ThreadReply>((resolve) => {
    waiting.set(question.id, resolve);
    worker.postMessage(question, [bytes.buffer]);
  });
  idle.refresh();
  if ('failed' in answer) throw answer.failed;
  if ('value' in answer) return joinSlices(answer.value);
  const { code, message, ...options } = answer.refused;
  throw new Refusal(code, message, options);
}

function startedThread(): Thread {
  if (thread !== undefined) return thread;
  // Without this limit, the thread takes 100 MB more.
  const worker = new Worker(program, { resourceLimits: { maxYoungGenerationSizeMb: 16 } });
  worker.unref();
  const waiting: Thread['waiting'] = new Map();
  const settle = (answer: ThreadReply) => {
    waiting.get(answer.id)?.(answer);
    waiting.delete(answer.id);
  };
  const fail = (failed: Error) => {
    if (thread === started) thread = undefined;
    clearTimeout(started.idle);
    for (const id of [...waiting.keys()]) settle({ id, failed });
  };
  const end = () => {
    if (waiting.size > 0) started.idle.refresh();
    else void worker.terminate();
  };
  const started: Thread = { worker, waiting, idle: setTimeout(end, 10_000).unref() };
  worker.on('message', settle);
  worker.once('error', fail);
  worker.once('exit', () => fail(new Error('the thread for large bodies has ended')));
  thread = started;
  return started;
}
