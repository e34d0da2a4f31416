import { z } from 'zod';
import { ruleOf } from '../services/foundation/authority/table.ts';
import { webhookMessage } from '../services/tenancy/webhooks/webhook.ts';
import { components } from './openapi-components.ts';
import { describeProtocols, protocolTags } from './openapi-protocols.ts';
import { pathKeys, type Route } from './route.ts';

// Generates the OpenAPI document from the routes and from the schemas that check requests and
// answers, so that it always matches the daemon.

type Json = Record<string, unknown>;

/** The OpenAPI 3.1 document of these routes. */
export function describeSurface(
  routes: Route[],
  about: { name: string; version: string; baseUrl: string },
) {
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: describeRoute(route) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: `${about.name} API`,
      version: about.version,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: about.baseUrl }],
    tags: [...new Set([...routes.map(tagOf), ...protocolTags])].map((name) => ({ name })),
    paths: { ...paths, ...describeProtocols() },
    webhooks: { event: { post: describeWebhook() } },
    components,
  };
}

function describeRoute(of: Route): Json {
  const route = { ...of, input: inputOf(of) };
  const { params, query, body } = fieldsOf(route);
  return {
    operationId: operationId(route),
    summary: route.summary,
    tags: [tagOf(route)],
    security: securityOf(route),
    description: describeAccess(route),
    ...parametersOf(route, { params, query }),
    ...(body.length === 0 ? {} : { requestBody: requestBody(route, body) }),
    responses: responsesOf(route),
  };
}

/** The input of the route, with the fields of its download. */
function inputOf({ input, download }: Route): Route['input'] {
  return download === undefined ? input : download.operation.input.partial().extend(input.shape);
}

/** The role and scope that the authority table requires, and the equivalent command. */
function describeAccess({ access, cli, speaks }: Route): string {
  const typed = cli === undefined ? '' : ` On the command line: \`idctl ${cli}\`.`;
  if (speaks === 'oauth')
    return `For apps, with client id and secret in the form or as HTTP Basic.${typed}`;
  if (access === 'public') return `Does not need a credential.${typed}`;
  const { least, orInProject, session, effect } = ruleOf(access);
  const who = least === 'user' ? 'a signed-in person' : `the role ${least} in the organization`;
  const project = orInProject === undefined ? '' : `, or ${orInProject} in the project`;
  const token = session === undefined ? scopes[effect] : ' A token is not accepted.';
  return `Needs ${who}${project}.${token}${typed}`;
}

/** The token scope that each effect needs. */
const scopes = {
  reads: '',
  changes: ' A token needs the scope write.',
  letsIn: ' A token needs the scope admin.',
};

/** The input fields by their part of the request, without fields that only the server fills in. */
function fieldsOf(route: Route): { params: string[]; query: string[]; body: string[] } {
  const params = pathKeys(route.path);
  const given = Object.keys(route.input.shape).filter(
    (name) => !params.includes(name) && isGiven(route, name),
  );
  const hasBody = /^(POST|PUT|PATCH)$/.test(route.method);
  return { params, query: hasBody ? [] : given, body: hasBody ? given : [] };
}

function isGiven(route: Route, name: string): boolean {
  const fill = route.filled?.[name];
  return fill === undefined || (typeof fill === 'object' && fill.orGiven === true);
}

function parametersOf(
  route: Route,
  { params, query }: { params: string[]; query: string[] },
): Json {
  const parameters = [
    ...params.map((name) => parameter(route, name, 'path')),
    ...query.map((name) => parameter(route, name, 'query')),
    ...(route.dryRun ? [dryRun] : []),
    ...(sendsOnRequest(route) ? [prefer] : []),
  ];
  return parameters.length === 0 ? {} : { parameters };
}

const dryRun = {
  name: 'dryRun',
  in: 'query',
  description: 'If `true`, nothing is changed. The 200 response shows what would happen.',
  schema: { type: 'boolean', default: false },
};

const prefer = {
  name: 'Prefer',
  in: 'header',
  description: 'With `return=representation`, the answer is 200 with the view, instead of 204.',
  schema: { type: 'string' },
};

/** Whether the answer is 204 unless the client asks for the view. */
function sendsOnRequest({ status, output }: Route): boolean {
  return status === 204 && output !== undefined;
}

function parameter(route: Route, name: string, place: 'path' | 'query'): Json {
  const { properties, required } = inputSchema(route);
  return {
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    schema: properties[name] ?? {},
  };
}

function requestBody(route: Route, names: string[]): Json {
  const { properties, required } = inputSchema(route);
  const needed = required.filter((name) => names.includes(name));
  const isForm = route.speaks === 'oauth' || route.crossSiteForm === true;
  const schema = {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, properties[name]])),
    ...(needed.length === 0 ? {} : { required: needed }),
    additionalProperties: isForm,
  };
  const type = isForm ? 'application/x-www-form-urlencoded' : 'application/json';
  return { required: needed.length > 0, content: { [type]: { schema } } };
}

function inputSchema(route: Route) {
  const { properties = {}, required = [] } = jsonSchema(route.input, 'input');
  return { properties, required };
}

function responsesOf(route: Route): Json {
  const files = (route.download?.types ?? []).map((type) => [type, { schema: { type: 'string' } }]);
  const content =
    route.output === undefined
      ? {}
      : {
          content: {
            [route.type ?? 'application/json']: { schema: jsonSchema(route.output, 'output') },
            ...Object.fromEntries(files),
          },
        };
  const cookies = route.setsCookies ? ' Sets cookies.' : '';
  const found =
    route.redirects === undefined ? {} : { 302: { description: 'Redirects the browser.' } };
  const done = { description: `Done.${cookies}`, ...(sendsOnRequest(route) ? {} : content) };
  const shown =
    sendsOnRequest(route) || (route.dryRun && route.status !== 200)
      ? { 200: { description: 'The view, on request or in a dry run.', ...content } }
      : {};
  const own = route.redirects === 'always' ? {} : { [route.status]: done, ...shown };
  const refused = {
    $ref: `#/components/responses/${route.speaks === 'oauth' ? 'OAuthError' : 'Problem'}`,
  };
  return { ...own, ...found, '4XX': refused, '5XX': refused };
}

function securityOf(route: Route): Json[] {
  const credentials = [{ bearer: [] }, { apiKey: [] }, { session: [] }];
  if (route.speaks === 'oauth') return [{}, { client: [] }];
  if (route.access !== 'public') return credentials;
  return route.optionalActor ? [{}, ...credentials] : [];
}

/** Describes the message that a webhook receives (Standard Webhooks). */
function describeWebhook(): Json {
  const header = (name: string, description: string) => {
    return { name, in: 'header', required: true, description, schema: { type: 'string' } };
  };
  return {
    operationId: 'receiveEvent',
    summary: 'An event, sent to each webhook that selected its kind',
    description:
      'A status from 200 to 299 within 10 seconds means delivered. Otherwise, idctl retries for days.',
    tags: ['webhooks'],
    security: [],
    parameters: [
      header('webhook-id', 'The id of the delivery; every attempt has the same id'),
      header('webhook-timestamp', 'The time of this attempt, in seconds since 1970'),
      header('webhook-signature', '`v1,` and the HMAC-SHA-256 of id.timestamp.body in Base64'),
    ],
    requestBody: {
      required: true,
      content: { 'application/json': { schema: jsonSchema(webhookMessage, 'output') } },
    },
    responses: { '2XX': { description: 'Delivered' } },
  };
}

function jsonSchema(schema: z.ZodType, io: 'input' | 'output') {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return rest;
}

/** `GET /api/v1/orgs/:org/members` becomes `getOrgsOrgMembers`. */
function operationId({ method, path }: Route): string {
  const words = path
    .replace(/^\/api\/v1\//, '')
    .split(/[^a-zA-Z0-9]+/)
    .filter((word) => word !== '');
  return (
    method.toLowerCase() +
    words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
  );
}

/** The route's tag in the API document: a part of the route's path, or a fixed name. */
function tagOf({ path }: Route): string {
  const [first = 'instance', , third] = path.replace(/^\/(api\/v1\/)?/, '').split('/');
  if (first.startsWith('.') || /^(healthz|readyz|openapi\.json)$/.test(first)) return 'instance';
  const part = first === 'orgs' && third !== undefined ? third : first;
  return /^(organization\.schema\.json|export|plan|apply)$/.test(part) ? 'document' : part;
}
