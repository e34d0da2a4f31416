// The only script of idctl's pages. It asks the browser for a passkey and sends the answer with the
// form. In such a form, data-passkey is `get` or `create`. The options are in data-options, or come
// from the URL in data-ask. Without this script, everything except passkeys works, and the texts
// marked data-unscripted stay visible.

const failed = {
  get: 'No passkey was used. Try again, or sign in another way.',
  create: 'No passkey was added. Try again, or use another device.',
};

/** The bytes of a text in base64url. */
function bytesOf(text) {
  const plain = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(plain, (sign) => sign.charCodeAt(0));
}

/** A buffer in base64url; undefined if there is none. */
function textOf(buffer) {
  if (!buffer) return undefined;
  const signs = Array.from(new Uint8Array(buffer), (byte) => String.fromCharCode(byte));
  return btoa(signs.join('')).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

const described = (credentials = []) =>
  credentials.map((credential) => ({ ...credential, id: bytesOf(credential.id) }));

/** Converts the options for the browser: base64url text becomes bytes. */
function readOptions({ challenge, user, allowCredentials, excludeCredentials, ...rest }) {
  return {
    ...rest,
    challenge: bytesOf(challenge),
    ...(user && { user: { ...user, id: bytesOf(user.id) } }),
    ...(allowCredentials && { allowCredentials: described(allowCredentials) }),
    ...(excludeCredentials && { excludeCredentials: described(excludeCredentials) }),
  };
}

/** The answer of the authenticator as JSON. */
function writeAnswer(credential) {
  const { id, rawId, type, response } = credential;
  return JSON.stringify({
    id,
    rawId: textOf(rawId),
    type,
    response: {
      clientDataJSON: textOf(response.clientDataJSON),
      attestationObject: textOf(response.attestationObject),
      authenticatorData: response.signature && textOf(response.authenticatorData),
      signature: textOf(response.signature),
      userHandle: textOf(response.userHandle),
      transports: response.getTransports?.(),
    },
    clientExtensionResults: credential.getClientExtensionResults(),
  });
}

/** The options of a form; null if the server gave none. */
async function ask({ dataset: { passkey, options, ask } }) {
  if (options) return JSON.parse(options);
  const answer = await fetch(ask, { method: 'POST', headers: { Accept: 'application/json' } });
  if (answer.ok) return answer.json();
  // The session has ended or needs a confirmation, so reload: the account page says which. On
  // another page, a reload would ask again and be refused again, without end.
  if (passkey === 'create' && (answer.status === 401 || answer.status === 403)) location.reload();
  return null;
}

function send(form, credential) {
  form.elements.namedItem('passkey').value = writeAnswer(credential);
  form.noValidate = form.dataset.alone !== undefined;
  form.requestSubmit();
}

function tell(form, text) {
  form.querySelector('[role=alert]')?.remove();
  if (text === '') return;
  const told = document.createElement('p');
  told.setAttribute('role', 'alert');
  told.className = 'alert';
  told.textContent = text;
  form.append(told);
}

let waiting = null;

/** Asks for a passkey in a dialog of the browser. */
async function use(form) {
  tell(form, '');
  waiting?.abort();
  try {
    const options = await ask(form);
    if (options === null) return tell(form, failed[form.dataset.passkey]);
    const publicKey = readOptions(options);
    const { credentials } = navigator;
    const make = form.dataset.passkey === 'create';
    send(form, await (make ? credentials.create({ publicKey }) : credentials.get({ publicKey })));
  } catch (error) {
    const there = error.name === 'InvalidStateError';
    const already = 'This device already has a passkey for your account.';
    tell(form, there ? already : failed[form.dataset.passkey]);
    if (form.dataset.autofill) void offer(form);
  }
}

const renewal = 4 * 60 * 1000;

/** Lets the browser offer passkeys in the autofill list of a field. */
async function offer(form) {
  if (!(await PublicKeyCredential.isConditionalMediationAvailable?.())) return;
  const controller = new AbortController();
  waiting = controller;
  // A challenge is valid for five minutes, so ask for a new one after four.
  const timer = setTimeout(() => {
    controller.abort();
    void offer(form);
  }, renewal);
  try {
    const options = await ask(form);
    if (options === null || controller.signal.aborted) return;
    const { signal } = controller;
    const publicKey = readOptions(options);
    send(form, await navigator.credentials.get({ publicKey, signal, mediation: 'conditional' }));
  } catch {
    // The person signs in another way or pressed the button, so there is nothing to report.
  } finally {
    clearTimeout(timer);
  }
}

function begin(form) {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = form.dataset.button;
  button.className = form.dataset.look ?? '';
  button.addEventListener('click', () => use(form));
  form.append(button);
  form.hidden = false;
  if (!form.dataset.autofill) return;
  const field = document.querySelector(form.dataset.autofill);
  if (!field) return;
  field.autocomplete = `${field.autocomplete} webauthn`;
  void offer(form);
}

if (window.PublicKeyCredential) {
  for (const text of document.querySelectorAll('[data-unscripted]')) text.remove();
  for (const form of document.querySelectorAll('form[data-passkey]')) begin(form);
}
