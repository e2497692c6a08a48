"""Secrets by name: each rule of the registry, of the files in git and of .sops.yaml, on a small tree."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from components.errors import PlatformError
from components.secrets import Provider, SecretUse, problems
from components.sops_rules import load
from platformctl.secret.check import check
from platformctl.secret.request import Registry

DEV = "age1" + "q" * 58
PROD = "age1" + "p" * 58
TOKEN_FILE = "platform/secrets/dev/cert-manager/token.sops.yaml"
RULES = """\
creation_rules:
  - path_regex: ^platform/secrets/dev/
    encrypted_regex: ^(data|stringData)$
    age: {dev}
  - path_regex: ^platform/secrets/prod/
    encrypted_regex: ^(data|stringData)$
    age: {prod}
  - path_regex: ^apps/
    encrypted_regex: ^(data|stringData)$
    age: {shared}
"""


def use(
    at: str = "cert-manager/token", keys: Sequence[str] = ("api-token",), provider: Provider = Provider.SOPS
) -> SecretUse:
    namespace, name = at.split("/")
    return SecretUse(namespace=namespace, name=name, keys=tuple(keys), provider=provider, needed_by="the issuers")


def encrypted(
    at: str = "cert-manager/token", keys: Sequence[str] = ("api-token",), recipient: str = DEV, mac: str = "ENC[mac]"
) -> str:
    """A Secret as sops writes it."""
    namespace, name = at.split("/")
    values = "".join(f"  {key}: ENC[AES256_GCM,data:aa==,type:str]\n" for key in keys)
    return (
        f"apiVersion: v1\nkind: Secret\nmetadata:\n  name: {name}\n  namespace: {namespace}\nstringData:\n{values}"
        f"sops:\n  age:\n    - recipient: {recipient}\n      enc: x\n  mac: {mac}\n  version: 3.13.3\n"
    )


def plain(at: str = "cert-manager/token", body: str = "stringData:\n  api-token: hunter2\n") -> str:
    namespace, name = at.split("/")
    return f"apiVersion: v1\nkind: Secret\nmetadata:\n  name: {name}\n  namespace: {namespace}\n{body}"


def write(root: Path, file: str, content: str | bytes) -> None:
    (root / file).parent.mkdir(parents=True, exist_ok=True)
    (root / file).write_bytes(content.encode() if isinstance(content, str) else content)


def rules(root: Path, dev: str = DEV, prod: str = PROD, shared: str = f"{DEV},{PROD}") -> None:
    write(root, ".sops.yaml", RULES.format(dev=dev, prod=prod, shared=shared))


def only(root: Path, *uses: SecretUse, stack: str = "dev") -> str:
    """The one sentence about the tree."""
    (sentence,) = problems(root, stack, uses)
    return sentence


def test_a_complete_tree_has_no_problem(tmp_path: Path) -> None:
    rules(tmp_path)
    write(tmp_path, TOKEN_FILE, encrypted())
    write(tmp_path, "apps/blog/login.yaml", encrypted("blog/login").replace("  age:\n", _second_recipient()))
    generated = use("flux-system/receiver-token", ["token"], Provider.GENERATED)
    assert problems(tmp_path, "dev", [use(), generated, use("flux-system/sops-age", provider=Provider.CONFIG)]) == []


def _second_recipient() -> str:
    return f"  age:\n    - recipient: {PROD}\n      enc: y\n"


class TestReferences:
    def test_a_secret_that_nobody_provides_is_named_with_its_user_and_the_way_to_make_it(self, tmp_path: Path) -> None:
        sentence = only(tmp_path, use())
        assert "Secret cert-manager/token (api-token), needed by the issuers" in sentence
        assert TOKEN_FILE in sentence
        assert "`platformctl secret set cert-manager/token --stack dev`" in sentence

    def test_the_file_of_another_stack_does_not_count(self, tmp_path: Path) -> None:
        write(tmp_path, "platform/secrets/prod/cert-manager/token.sops.yaml", encrypted())
        write(tmp_path, "Pulumi.prod.yaml", "")
        assert "is not in git" in only(tmp_path, use())

    def test_a_missing_key_is_named(self, tmp_path: Path) -> None:
        write(tmp_path, TOKEN_FILE, encrypted(keys=["token"]))
        assert f"{TOKEN_FILE}: Secret cert-manager/token lacks the key api-token" in only(tmp_path, use())

    @pytest.mark.parametrize("provider", [Provider.CONFIG, Provider.GENERATED])
    def test_a_secret_of_the_program_must_not_be_in_git_too(self, tmp_path: Path, provider: Provider) -> None:
        write(tmp_path, TOKEN_FILE, encrypted())
        sentence = only(tmp_path, use(provider=provider))
        assert f"provided twice, by {provider.value} and {TOKEN_FILE}" in sentence

    def test_two_files_with_the_same_secret_are_both_named(self, tmp_path: Path) -> None:
        write(tmp_path, TOKEN_FILE, encrypted())
        write(tmp_path, "apps/token.yaml", encrypted())
        assert f"provided twice, by {TOKEN_FILE} and apps/token.yaml" in only(tmp_path, use())

    def test_no_sentence_ever_holds_a_value(self, tmp_path: Path) -> None:
        write(tmp_path, TOKEN_FILE, plain())
        write(tmp_path, "apps/a.yaml", plain("a/b", "stringData: hunter2\n"))
        write(tmp_path, "apps/b.yaml", plain("a/c", "data:\n  x: [hunter2]\n"))
        found = problems(tmp_path, "dev", [use(keys=["other"])])
        assert len(found) >= 4
        assert "hunter2" not in "\n".join(found)


class TestPlainText:
    def test_a_secret_without_encryption(self, tmp_path: Path) -> None:
        write(tmp_path, TOKEN_FILE, plain())
        sentence = only(tmp_path, use())
        assert f"{TOKEN_FILE}: Secret cert-manager/token has api-token in plain text" in sentence
        assert f"`sops encrypt --in-place {TOKEN_FILE}`, and change what was exposed" in sentence

    def test_one_value_added_by_hand_to_an_encrypted_file(self, tmp_path: Path) -> None:
        write(tmp_path, TOKEN_FILE, encrypted().replace("sops:\n", "data:\n  password: aHVudGVyMg==\nsops:\n"))
        assert "has password in plain text" in only(tmp_path, use())

    def test_ciphertext_copied_without_its_sops_block_is_no_secret(self, tmp_path: Path) -> None:
        write(tmp_path, TOKEN_FILE, encrypted().split("sops:")[0])
        assert "has api-token in plain text" in only(tmp_path, use())

    @pytest.mark.parametrize("kind", ["List", "SecretList"])
    def test_secrets_inside_a_list_are_found(self, tmp_path: Path, kind: str) -> None:
        item = plain("blog/login").replace("\n", "\n    ").rstrip()
        write(tmp_path, "apps/all.yaml", f"apiVersion: v1\nkind: {kind}\nitems:\n  - {item}\n")
        assert "apps/all.yaml: Secret blog/login has api-token in plain text" in only(tmp_path)

    def test_the_second_document_of_a_file_is_read(self, tmp_path: Path) -> None:
        write(tmp_path, "apps/two.yml", f"apiVersion: v1\nkind: ConfigMap\n---\n{plain('blog/login')}")
        assert "apps/two.yml: Secret blog/login" in only(tmp_path)

    def test_values_behind_a_merge_key_are_plain_text(self, tmp_path: Path) -> None:
        write(tmp_path, "apps/a.yaml", plain("a/b", "x: &x {p: hunter2}\nstringData:\n  <<: *x\n"))
        assert "in plain text" in only(tmp_path)

    def test_a_manifest_of_another_kind_is_nobodys_business(self, tmp_path: Path) -> None:
        odd = "kind: ConfigMap\nmetadata: {name: a}\ndata:\n  a: =\n  b: !custom 1\n  c: 2020-01-01\n"
        write(tmp_path, "apps/odd.yaml", odd)
        write(tmp_path, "apps/readme.md", plain())
        assert problems(tmp_path, "dev", []) == []


class TestFiles:
    def test_broken_yaml_is_named_with_line_and_column(self, tmp_path: Path) -> None:
        write(tmp_path, TOKEN_FILE, "kind: Secret\nmetadata:\n  name: [a\nstringData: {}\n")
        sentence, _ = problems(tmp_path, "dev", [use()])
        assert re.match(rf"{TOKEN_FILE}:4:\d+: is not valid YAML: .+; correct this line", sentence)

    def test_a_file_that_is_no_text(self, tmp_path: Path) -> None:
        write(tmp_path, "apps/a.yaml", b"kind: \xff\xfe\x00")
        assert "apps/a.yaml: is not valid YAML" in only(tmp_path)

    @pytest.mark.parametrize("missing", ["name", "namespace"])
    def test_a_secret_without_its_name_or_namespace(self, tmp_path: Path, missing: str) -> None:
        write(tmp_path, "apps/a.yaml", re.sub(rf"  {missing}: .*\n", "", encrypted("blog/login")))
        assert f"apps/a.yaml: the Secret has no metadata.{missing}" in only(tmp_path)

    def test_a_secret_without_metadata(self, tmp_path: Path) -> None:
        write(tmp_path, "apps/a.yaml", "apiVersion: v1\nkind: Secret\nmetadata:\n")
        assert "the Secret has no metadata.name and no metadata.namespace" in only(tmp_path)

    @pytest.mark.parametrize(
        "file",
        [
            "platform/secrets/dev/monitoring/token.sops.yaml",
            "platform/secrets/dev/cert-manager/other.sops.yaml",
            "platform/secrets/dev/token.yaml",
        ],
    )
    def test_a_secret_in_the_wrong_place_is_told_the_right_one(self, tmp_path: Path, file: str) -> None:
        write(tmp_path, file, encrypted())
        assert only(
            tmp_path, use()
        ) == f"{file}: holds Secret cert-manager/token, whose file must be {TOKEN_FILE}; " + ("move it there")

    @pytest.mark.parametrize("directory", ["platform/secret/dev/cert-manager", "platform/secrets/cert-manager"])
    def test_a_secret_outside_of_every_stack_is_never_applied(self, tmp_path: Path, directory: str) -> None:
        write(tmp_path, f"{directory}/token.sops.yaml", encrypted())
        sentence = only(tmp_path)
        assert f"{directory}/token.sops.yaml: holds a Secret outside of platform/secrets/STACK/" in sentence

    def test_values_that_are_no_map(self, tmp_path: Path) -> None:
        write(tmp_path, TOKEN_FILE, encrypted().replace("  api-token: ENC", "  - api-token: ENC"))
        first, _ = problems(tmp_path, "dev", [use()])
        assert f"{TOKEN_FILE}: stringData of Secret cert-manager/token must be a map" in first

    def test_an_empty_value(self, tmp_path: Path) -> None:
        write(tmp_path, TOKEN_FILE, re.sub("ENC.*str]", '""', encrypted()))
        assert "has no value for api-token" in only(tmp_path, use())


class TestSopsMetadata:
    def test_encrypted_names_cannot_be_applied(self, tmp_path: Path) -> None:
        text = encrypted().replace("kind: Secret", "kind: ENC[a]").replace("name: token", "name: ENC[b]")
        write(tmp_path, TOKEN_FILE, text)
        sentence = only(tmp_path)
        assert f"{TOKEN_FILE}: kind, metadata.name must be in clear text" in sentence
        assert "encrypted_regex ^(data|stringData)$" in sentence

    @pytest.mark.parametrize("mac", ["", "abc"])
    def test_a_sops_block_without_a_mac(self, tmp_path: Path, mac: str) -> None:
        write(tmp_path, TOKEN_FILE, encrypted(mac=mac))
        assert f"{TOKEN_FILE}: the block sops has no mac" in only(tmp_path, use())

    def test_a_configmap_with_a_leftover_sops_block(self, tmp_path: Path) -> None:
        write(tmp_path, "apps/a.yaml", "kind: ConfigMap\nmetadata: {name: a}\nsops:\n  version: 3.13.3\n")
        assert "the block sops has no mac" in only(tmp_path)

    @pytest.mark.parametrize("recipient", [PROD, ""])
    def test_a_file_for_other_recipients_than_the_rules_name(self, tmp_path: Path, recipient: str) -> None:
        rules(tmp_path)
        write(tmp_path, TOKEN_FILE, encrypted(recipient=recipient))
        sentence = only(tmp_path, use())
        assert f"is encrypted for {recipient or 'no age key'}, but .sops.yaml names {DEV}" in sentence
        assert f"`sops updatekeys {TOKEN_FILE}`" in sentence

    def test_recipients_in_key_groups_count(self, tmp_path: Path) -> None:
        groups = f"creation_rules:\n  - path_regex: ^platform/\n    key_groups:\n      - age: [{DEV}]\n"
        write(tmp_path, ".sops.yaml", groups)
        text = encrypted().replace("  age:\n", "  key_groups:\n  - age:\n").replace("    - recip", "      - recip")
        write(tmp_path, TOKEN_FILE, text.replace("      enc", "        enc"))
        assert problems(tmp_path, "dev", [use()]) == []


class TestSopsRules:
    def test_the_first_rule_that_fits_wins_as_in_sops(self, tmp_path: Path) -> None:
        rules(tmp_path)
        rule = load(tmp_path).rule_for("platform/secrets/prod/a/b.sops.yaml")
        assert rule and rule.recipients == (PROD,)

    @pytest.mark.parametrize("age", [f"{DEV},{PROD}", f'"{DEV}, {PROD}"', f"[{DEV}, {PROD}]"])
    def test_several_recipients_in_each_spelling(self, tmp_path: Path, age: str) -> None:
        rules(tmp_path, dev=age)
        rule = load(tmp_path).rule_for(TOKEN_FILE)
        assert rule and rule.recipients == (DEV, PROD)

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            (None, ".sops.yaml is missing at the root"),
            ("creation_rules: [a\n", ".sops.yaml:2:1: is not valid YAML"),
            ("stores: {}\n", ".sops.yaml: creation_rules is missing"),
            ("creation_rules:\n  - path_regex: '('\n", ".sops.yaml: path_regex ( is no regular expression"),
            ("creation_rules:\n  - encrypted_regex: '('\n", ".sops.yaml: encrypted_regex ( is no regular expression"),
            ("creation_rules:\n  - age: AGE-SECRET-KEY-1ABC\n", "is a private key, which is exposed now"),
            ("creation_rules:\n  - path_regex: ^apps/\n", f".sops.yaml: no creation rule fits {TOKEN_FILE}"),
            ("creation_rules:\n  - encrypted_regex: ^(data|stringData)$\n", "has no age recipient"),
            (f"creation_rules:\n  - age: {DEV}\n", "encrypted_regex of the rule for every path is missing"),
            (f"creation_rules:\n  - age: {DEV}\n    encrypted_regex: data\n", "must be ^(data|stringData)$"),
            (f"creation_rules:\n  - age: {DEV}\n    encrypted_regex: ^data$\n", "must be ^(data|stringData)$"),
        ],
    )
    def test_a_rule_that_cannot_encrypt_is_refused(self, tmp_path: Path, text: str | None, expected: str) -> None:
        if text is not None:
            write(tmp_path, ".sops.yaml", text)
        with pytest.raises(PlatformError) as caught:
            load(tmp_path).usable_rule(TOKEN_FILE)
        assert expected in str(caught.value)
        assert "AGE-SECRET-KEY-1ABC" not in str(caught.value)

    def test_problems_reports_a_broken_sops_yaml(self, tmp_path: Path) -> None:
        write(tmp_path, ".sops.yaml", "creation_rules: {}\n")
        assert "creation_rules is missing" in only(tmp_path)


class TestCheckOfAllStacks:
    registry = Registry(uses=[use()], config_keys={})

    def tree(self, root: Path) -> None:
        for stack, recipient in (("dev", DEV), ("prod", PROD)):
            write(root, f"Pulumi.{stack}.yaml", "config: {}\n")
            write(root, f"platform/secrets/{stack}/cert-manager/token.sops.yaml", encrypted(recipient=recipient))

    def test_the_files_of_all_stacks_are_counted(self, tmp_path: Path) -> None:
        self.tree(tmp_path)
        rules(tmp_path)
        assert check(tmp_path, self.registry) == 2

    def test_every_problem_of_every_stack_is_said_once(self, tmp_path: Path) -> None:
        self.tree(tmp_path)
        rules(tmp_path, shared=DEV)
        write(tmp_path, "platform/secrets/prod/cert-manager/token.sops.yaml", plain())
        write(tmp_path, "apps/a.yaml", plain("a/b"))
        with pytest.raises(PlatformError) as caught:
            check(tmp_path, self.registry)
        about = [sentence.split(":")[0] for sentence in caught.value.sentences]
        assert sorted(about) == [".sops.yaml", "apps/a.yaml", "platform/secrets/prod/cert-manager/token.sops.yaml"]
        assert f"lacks {PROD}, so stack prod could not decrypt" in str(caught.value)

    def test_a_missing_sops_yaml(self, tmp_path: Path) -> None:
        self.tree(tmp_path)
        with pytest.raises(PlatformError, match=r"\.sops\.yaml is missing"):
            check(tmp_path, self.registry)
