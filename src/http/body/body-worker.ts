import { answerQuestions } from '../../host/thread.ts';
import { documentRoutes } from '../routes/document.ts';
import { mappingRoutes } from '../routes/mappings.ts';
import { ssoRoutes } from '../routes/sso.ts';
import { checkInput, fieldsOf, jsonOf } from './check.ts';
import { cutIntoSlices, type Slices } from './slices.ts';
import type { BodyQuestion } from './thread.ts';

// The thread for large bodies. It checks the bodies of these routes, which a test compares with the
// surface. SCIM bodies it only parses.

const routes = new Map(
  [...documentRoutes, ...mappingRoutes, ...ssoRoutes].map((route) => [
    `${route.method} ${route.path}`,
    route,
  ]),
);

answerQuestions(({ bytes, route: asked }: BodyQuestion): Slices => {
  if (asked === null) return cutIntoSlices(jsonOf(bytes));
  const route = routes.get(asked.name);
  if (route === undefined) throw new Error(`the thread does not know ${asked.name}`);
  return cutIntoSlices(checkInput(route, fieldsOf(bytes), asked.fromRequest));
});
