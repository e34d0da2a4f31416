import express from 'express';
import * as openid from 'openid-client';

const { ISSUER, CLIENT_ID, CLIENT_SECRET, URL: own, PORT } = process.env;
const issuer = new URL(ISSUER);
const execute = issuer.protocol === 'http:' ? [openid.allowInsecureRequests] : [];
const client = await openid.discovery(issuer, CLIENT_ID, CLIENT_SECRET, undefined, { execute });
const redirect_uri = `${own}/callback`;
const waiting = new Map(); // Keep these in your session store, under a cookie of your own.

const app = express();
app.get('/', async (_request, response) => {
  const state = openid.randomState();
  const nonce = openid.randomNonce();
  const verifier = openid.randomPKCECodeVerifier();
  waiting.set(state, { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier });
  const code_challenge = await openid.calculatePKCECodeChallenge(verifier);
  const pkce = { code_challenge, code_challenge_method: 'S256' };
  const asked = { redirect_uri, scope: 'openid email profile groups', state, nonce, ...pkce };
  response.cookie('state', state, { httpOnly: true, sameSite: 'lax' });
  response.redirect(openid.buildAuthorizationUrl(client, asked).href);
});
app.get('/callback', async (request, response) => {
  const state = /(?:^|; )state=([^;]*)/.exec(request.headers.cookie ?? '')?.[1];
  const checks = waiting.get(state);
  if (!waiting.delete(state)) return response.redirect('/');
  const callback = new URL(request.originalUrl, own);
  try {
    const tokens = await openid.authorizationCodeGrant(client, callback, checks);
    const { sub, name, email, groups } = tokens.claims();
    response.json({ sub, name, email, groups });
  } catch (error) {
    // A refusal has a code, such as access_denied. Other errors are failed checks.
    process.stderr.write(`${error.error ?? error.stack}\n`);
    const isDenied = error.error === 'access_denied';
    const reason = isDenied ? 'You do not have access to this application.' : 'The sign-in failed.';
    response.status(403).send(`<p>${reason}</p><p><a href="/">Try again</a></p>`);
  }
});
app.listen(PORT);
