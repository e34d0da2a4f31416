import { parentPort, type Transferable, Worker } from 'node:worker_threads';
import { Refusal } from '../errors.ts';

// Long computations in a thread: on the main thread, they would block other requests.

/** A thread that answers one question after the other. The first question starts it. */
export interface Thread<Question, Answer> {
  /** Fails with the refusal or error that the thread threw. */
  ask(question: Question, transfer?: Transferable[]): Promise<Answer>;
}

interface Limit {
  /** How many milliseconds a question may take. After that, the thread is ended. */
  duration: number;
  late: () => Error;
}

/** How long a thread without questions lives, in milliseconds. Its end frees its memory. */
const idleFor = 10_000;

interface Sent<Question> {
  id: number;
  question: Question;
}

type Reply<Answer> = { id: number } & (
  | { answer: Answer }
  | { refused: Omit<Refusal, 'kind' | 'name'> }
  | { failed: unknown }
);

interface Started<Answer> {
  worker: Worker;
  waiting: Map<number, (reply: Reply<Answer>) => void>;
  idle: NodeJS.Timeout;
  /** Fails all questions. The next one starts another thread. */
  fail(error: Error): void;
}

/** Creates a thread that runs this program, which calls `answerQuestions`. */
export function createThread<Question, Answer>(
  program: URL,
  limit?: Limit,
): Thread<Question, Answer> {
  let running: Started<Answer> | undefined;
  let asked = 0;

  function start(): Started<Answer> {
    // Without this limit, the thread takes 100 MB more.
    const worker = new Worker(program, { resourceLimits: { maxYoungGenerationSizeMb: 16 } });
    worker.unref();
    const waiting: Started<Answer>['waiting'] = new Map();
    const settle = (reply: Reply<Answer>) => {
      waiting.get(reply.id)?.(reply);
      waiting.delete(reply.id);
    };
    const fail = (failed: Error) => {
      if (running === started) running = undefined;
      clearTimeout(started.idle);
      for (const id of [...waiting.keys()]) settle({ id, failed });
    };
    const end = () => {
      if (waiting.size > 0) {
        started.idle.refresh();
        return;
      }
      // The end takes a moment, so a question that comes now needs another thread.
      if (running === started) running = undefined;
      void worker.terminate();
    };
    const started = { worker, waiting, idle: setTimeout(end, idleFor).unref(), fail };
    worker.on('message', settle);
    worker.once('error', fail);
    worker.once('exit', () => fail(new Error(`the thread ${program.pathname} has ended`)));
    return started;
  }

  return {
    async ask(question, transfer) {
      running ??= start();
      const { worker, waiting, idle, fail } = running;
      asked += 1;
      const sent: Sent<Question> = { id: asked, question };
      const timer =
        limit &&
        setTimeout(() => {
          fail(limit.late());
          void worker.terminate();
        }, limit.duration);
      const reply = await new Promise<Reply<Answer>>((resolve) => {
        waiting.set(sent.id, resolve);
        worker.postMessage(sent, transfer);
      });
      clearTimeout(timer);
      idle.refresh();
      if ('answer' in reply) return reply.answer;
      if ('failed' in reply) throw reply.failed;
      // A thread sends a refusal as a plain object.
      const { code, message, ...options } = reply.refused;
      throw new Refusal(code, message, options);
    },
  };
}

/** Answers the questions of `createThread`. The program of a thread calls it once. */
export function answerQuestions<Question, Answer>(answer: (question: Question) => Answer): void {
  const reply = ({ id, question }: Sent<Question>): Reply<Answer> => {
    try {
      return { id, answer: answer(question) };
    } catch (error) {
      if (!(error instanceof Refusal)) return { id, failed: error };
      const { message, cause } = error;
      return { id, refused: { ...error, message, cause } };
    }
  };
  parentPort?.on('message', (sent: Sent<Question>) => parentPort?.postMessage(reply(sent)));
}
