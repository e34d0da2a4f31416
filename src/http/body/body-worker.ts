import { parentPort } from 'node:worker_threads';
import { Refusal } from '../../errors.ts';
import { documentRoutes } from '../routes/document.ts';
import { mappingRoutes } from '../routes/mappings.ts';
import { ssoRoutes } from '../routes/sso.ts';
import { checkInput, fieldsOf, jsonOf } from './check.ts';
import { cutIntoSlices } from './slices.ts';
import type { ThreadQuestion, ThreadReply } from './thread.ts';

// The thread for large bodies. It checks the bodies of these routes, which a test compares with the
// surface. SCIM bodies it only parses.

const routes = new Map(
  [...documentRoutes, ...mappingRoutes, ...ssoRoutes].map((route) => [
    `${route.method} ${route.path}`,
    route,
  ]),
);

parentPort?.on('message', ({ id, bytes, route }: ThreadQuestion) => {
  parentPort?.postMessage({ id, ...answer(bytes, route) } as ThreadReply);
});

function answer(bytes: Uint8Array, asked: ThreadQuestion['route']) {
  try {
    if (asked === null) return { value: cutIntoSlices(jsonOf(bytes)) };
    const route = routes.get(asked.name);
    if (route === undefined) throw new Error(`the thread does not know ${asked.name}`);
    return { value: cutIntoSlices(checkInput(route, fieldsOf(bytes), asked.fromRequest)) };
  } catch (error) {
    if (!(error instanceof Refusal)) return { failed: error };
    const { code, message, faults, moreFaults, hint } = error;
    return { refused: { code, message, faults, moreFaults, hint } };
  }
}
