"""A SAML provider with pysaml2: python3 pysaml2.py FOLDER PORT. Signs in the person in ?person=."""
import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs, urlsplit

from saml2 import BINDING_HTTP_POST, BINDING_HTTP_REDIRECT
from saml2.config import IdPConfig
from saml2.metadata import entity_descriptor
from saml2.saml import NAMEID_FORMAT_PERSISTENT, NameID
from saml2.server import Server
from saml2.xmldsig import DIGEST_SHA256, SIG_RSA_SHA256

folder, port = sys.argv[1], int(sys.argv[2])
base = f"http://127.0.0.1:{port}"
config = IdPConfig().load(
    {
        "entityid": f"{base}/metadata",
        "xmlsec_binary": "/usr/bin/xmlsec1",
        "key_file": f"{folder}/key.pem",
        "cert_file": f"{folder}/cert.pem",
        "metadata": {"local": [f"{folder}/sp.xml"]},
        "service": {
            "idp": {
                "endpoints": {"single_sign_on_service": [(f"{base}/sso", BINDING_HTTP_REDIRECT)]},
                "policy": {"default": {"lifetime": {"minutes": 5}}},
            }
        },
    }
)
server = Server(config=config)
people = json.load(open(f"{folder}/people.json"))


def answer(query):
    request = server.parse_authn_request(query["SAMLRequest"][0], BINDING_HTTP_REDIRECT)
    person = people[query["person"][0]]
    about = server.response_args(request.message, [BINDING_HTTP_POST])
    about.pop("name_id_policy", None)
    response = server.create_authn_response(
        identity=person["attributes"],
        userid=person["id"],
        name_id=NameID(format=NAMEID_FORMAT_PERSISTENT, text=person["id"]),
        authn={"class_ref": "urn:oasis:names:tc:SAML:2.0:ac:classes:Password", "authn_auth": base},
        sign_assertion=person["signs"] != "response",
        sign_response=person["signs"] != "assertion",
        sign_alg=SIG_RSA_SHA256,
        digest_alg=DIGEST_SHA256,
        **about,
    )
    relay_state = query.get("RelayState", [""])[0]
    return server.apply_binding(
        BINDING_HTTP_POST, str(response), about["destination"], relay_state, response=True
    )["data"]


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        url = urlsplit(self.path)
        if url.path == "/metadata":
            return self.send(str(entity_descriptor(config)))
        return self.send(answer(parse_qs(url.query)))

    def send(self, text):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_):
        pass


HTTPServer(("127.0.0.1", port), Handler).serve_forever()
