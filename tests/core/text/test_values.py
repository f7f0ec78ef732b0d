"""A labelled set: lines that are one fact with two values, and lines that only look like it.

Folding hides the older of two lines, so that a false pair costs more than a missed one.
"""

from __future__ import annotations

import pytest

from commonplace.text.values import without_aside, without_value

ONE_FACT = [
    ("The deploy branch is develop", "The deploy branch is trunk"),
    ("- the deploy branch is `main`", "The deploy branch is now trunk."),
    ("The branch for deploys is develop", "The branch for deploys is trunk"),
    ("The sign-in domain is maple", "The sign-in domain is birch"),
    ("The staging bucket is backups", "The staging bucket is archive"),
    ("The default environment is staging", "The default environment is production"),
    ("Our release schedule is weekly", "Our release schedule is monthly"),
    ("The nickname of the printer is bertha", "The nickname of the printer is otto"),
    ("The AWS region is eu-west-1", "The AWS region is us-east-2"),
    ("API base URL: https://a.example.com/v2", "API base URL: https://a.example.com/v3"),
    ("The API base URL is https://a.example.com/v2", "The API base URL is https://b.example.org/"),
    (
        "The URL of the wiki is https://w.example.com",
        "The URL of the wiki is https://x.example.com",
    ),
    ("Sentry webhook: http://atlas:8080/hook", "Sentry webhook: http://boreas:8081/hook"),
    ("The VPN gateway is vpn3.example.net", "The VPN gateway is vpn4.example.net"),
    ("The VPN gateway is vpn3.example.net:443", "The VPN gateway is vpn4.example.net:444"),
    ("The API host is api2.example.net", "The API host is api3.example.net."),
    ("Billing contact is ann@example.com", "Billing contact is tom@example.com"),
    ("The on-call user is ops_ann", "The on-call user is ops_tom"),
    ("The working copy is src/billing", "The working copy is src/invoices"),
    ("On-call phone: +49 351 123", "On-call phone: +49 351 456"),
    ("The on-call phone is +49 (351) 123-4", "The on-call phone is +44 (20) 7946 0018"),
    ("Dentist's phone: 0351 123 45", "Dentist's phone: 0351 98 76"),
    ("The backup window is 2026-10-02 03:00", "The backup window is 2026-10-09 04:30"),
    ("We use Node v20.11.1 in CI", "We use Node v22.1.0 in CI"),
    ("We use Node v20.11.1 in CI", "We use Node 22.1.0 in CI"),
    ("The Node version is v20.11.1", "The Node version is 22.1.0"),
    ("We have 5 workers in staging", "We have 8 workers in staging"),
    ("We have 950 employees", "We have 1200 employees"),
    ("Die Miete beträgt 1100 Euro im Monat", "Die Miete beträgt 1200 Euro im Monat"),
    ("Pinned ruff to v0.5 for now", "Pinned ruff to v0.6 for now"),
    ("The staging port is 8444.", "The staging port is 8450."),
    ("Staging server: atlas", "Staging server: boreas"),
    ("El puerto de pruebas: 8444", "El puerto de pruebas: 8450"),
    ("Serveur de test : atlas", "Serveur de test : borée"),
    ("WLAN-Passwort im Büro: Blauwal", "WLAN-Passwort im Büro: Rotfuchs"),
    ("负责人是王芳", "负责人是李雷"),
    ("项目的负责人是王芳。", "项目的负责人现在是李雷。"),
    ("部署分支改为trunk", "部署分支是develop"),
    ("部署分支已换成了trunk", "部署分支为develop"),
    ("預設資料庫為MySQL", "預設資料庫為Postgres"),
    ("部署分支：develop", "部署分支: trunk"),
    ("测试服务器的端口是8401", "测试服务器的端口是8402。"),
    ("担当者は田中です", "担当者は佐藤さんです。"),
    ("デプロイのブランチはdevelopです", "デプロイのブランチはtrunkだ"),
    ("本番サーバーの場所は東京である", "本番サーバーの場所は大阪である"),
    ("担当者：田中", "担当者：佐藤"),
    ("서버 위치는 서울이다", "서버 위치는 부산이다"),
    ("담당자는 김민수입니다.", "담당자는 이영희입니다."),
    ("배포 브랜치는 develop이다", "배포 브랜치는 이제 trunk이다"),
    ("프로젝트 담당자: 김민수", "프로젝트 담당자: 이영희"),
]
TWO_FACTS = [
    ("The deploy is slow", "The deploy is done"),
    ("The deploy branch is broken", "The deploy branch is develop"),
    ("The deploy branch is protected", "The deploy branch is green"),
    ("The staging server is slow", "The staging server is down"),
    ("The staging server is slow", "The staging server is atlas"),
    ("The build database is corrupt", "The build database is empty"),
    ("The wifi password is wrong", "The wifi password is weak"),
    ("The login path is missing", "The login path is unclear"),
    ("The release schedule is tentative", "The release schedule is delayed"),
    ("The deploy branch is behind main", "The deploy branch is ahead of main"),
    ("The deploy branch is develop", "The release branch is develop"),
    ("The branch is develop", "The branch is trunk"),
    ("It is develop", "It is trunk"),
    ("The code review is out-of-date", "The code review is half-done"),
    ("The office is cold.", "The office is closed."),
    ("My sister is tired", "My sister is pregnant"),
    ("Caroline is excited about camping", "Caroline is nervous about camping"),
    ("The staging feature is on/off", "The staging feature is n/a"),
    ("See the plan: https://example.org/a", "See the plan: https://example.org/b"),
    ("PR for the login page: https://g.example/x", "PR for the login page: https://g.example/y"),
    ("Bug in the registry: https://g.example/x", "Bug in the registry: https://g.example/y"),
    ("Is the deploy branch develop?", "Is the deploy branch trunk?"),
    ("Called Mia at +49 351 123 about it", "Called Tom at +49 351 123 about it"),
    ("Ann's phone: +49 351 123", "Tom's phone: +49 351 456"),
    ("We use Node v20.11.1 in CI", "We use Deno v2.1.0 in CI"),
    ("We use Node v20.11.1 in CI", "We use Node v20.11.1 in production"),
    ("Server 3: port 80", "Server 4: port 90"),
    ("The API host is api2.example.net", "The mail host is api2.example.net"),
    ("The API host is api2.example.net, and slow", "The API host is api3.example.net, and new"),
    ("Closed ticket PAY-1432 after review", "Closed ticket PAY-1423 after review"),
    ("Closed PAY-1432", "Closed PAY-1423"),
    ("Closed ticket 4711", "Closed ticket 4712"),
    ("Reviewed pull request #812 today", "Reviewed pull request #821 today"),
    ("Customer 40112 complained again", "Customer 40121 complained again"),
    ("ORA-00942 in the reporting job", "ORA-01017 in the reporting job"),
    ("API pod 10.20.4.17 restarted", "API pod 10.20.4.18 restarted"),
    ("Lunch: ramen with Mia", "Lunch: pizza with Tom"),
    ("Der Server ist langsam", "Der Server ist kaputt"),
    ("今天是周一", "今天是周二"),
    ("服务器是坏的", "服务器是新的"),
    ("主要问题是网络", "主要问题是内存"),
    ("负责人不是王芳", "负责人不是李雷"),
    ("负责人是王芳", "审核人是李雷"),
    ("我认为方案可行", "我认为方案不行"),
    ("这次的结果是他没来", "这次的结果是她来了"),
    ("部署分支是谁改的", "部署分支是怎么改的"),
    ("因为网络断开", "因为内存不足"),
    ("サーバーは遅いです", "サーバーは速いです"),
    ("サーバーは正常です", "サーバーは停止中です"),
    ("デプロイは完了です", "デプロイは失敗です"),
    ("担当者は誰ですか", "担当者は田中です"),
    ("今日は月曜日です", "今日は火曜日です"),
    ("担当者は田中です", "確認者は佐藤です"),
    ("서버는 정상입니다", "서버는 점검 중입니다"),
    ("배포는 실패입니다", "배포는 성공입니다"),
    ("오늘은 월요일입니다", "오늘은 화요일입니다"),
    ("서버가 느려 보입니다", "서버가 빨라 보입니다"),
    ("서버 위치는 서울이다", "창고 위치는 부산이다"),
]


def named(pair: tuple[str, str]) -> str:
    return pair[0][:30]


@pytest.mark.parametrize("pair", ONE_FACT, ids=named)
def test_lines_of_one_fact_differ_in_their_value_alone(pair: tuple[str, str]) -> None:
    (fact, value), (other_fact, other_value) = map(without_value, pair)
    assert fact == other_fact
    assert value
    assert value != other_value


@pytest.mark.parametrize("pair", TWO_FACTS, ids=named)
def test_lines_that_only_look_alike_are_two_facts(pair: tuple[str, str]) -> None:
    one, other = (without_value(line)[0] for line in pair)
    assert one != other


@pytest.mark.parametrize(
    ("line", "short"),
    [
        ("The port is now 8450.", "The port is 8450."),
        ("The port is 8450 now.", "The port is 8450."),
        ("The rent is 900 euros a month since May", "The rent is 900 euros a month"),
        ("Port: 8450 (moved for Caddy)", "Port: 8450"),
        ("The port is 8444, changed from 8450 as Ann asked", "The port is 8444"),
        # What says more than since when, or why.
        ("The port is 8450 on the host 7.", "The port is 8450 on the host 7."),
        ("The port is 8450 (used by Ann)", "The port is 8450 (used by Ann)"),
        ("The port is 8450 for now", "The port is 8450 for now"),
        ("The port is 8450. Since May it is open.", "The port is 8450. Since May it is open."),
        ("The cellar is cold because it is winter", "The cellar is cold because it is winter"),
        ("Since May the port is 8450", "Since May the port is 8450"),
    ],
)
def test_since_when_and_why_a_number_holds_is_no_part_of_its_line(line: str, short: str) -> None:
    assert without_aside(line) == short


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Log retention is 14 days", "Log retention is 30 days, Priya wanted it for audits"),
        ("Log retention is 14 days", "Log retention is 30 days since Priya asked"),
        ("The wifi password is Tulip-77", "The wifi password is Azahar-1950 (changed by Leo)"),
        ("Deploy day is Thursday", "Deploy day is Tuesday, Sam wants it so"),
        ("Der Port ist 8080", "Der Port ist 9090, weil Caddy 8080 hat"),
        ("- On call: Ana Ruiz", "- On call: Bob Lee"),
        ("- Owner: Ana", "- Owner: Bob."),
        ("Der Testport ist 8080", "Der Testport ist jetzt 8443"),
        ("le port de test est 8080", "le port de test est maintenant 8443"),
        ("el puerto es 8080", "el puerto es ahora 8443"),
        ("порт стенда 8080", "порт стенда теперь 8443"),
        ("- 온콜: 민재", "- 온콜: 도현"),
        ("- 值班：张三", "- 值班：李四"),
    ],
)
def test_lines_that_differ_in_a_value_and_in_what_is_said_of_it_are_one_fact(
    before: str, after: str
) -> None:
    (fact, old), (same, new) = without_value(before), without_value(after)
    assert fact == same
    assert old
    assert new
    assert old != new


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("- **Maria**: Thanks, John", "- **Maria**: Good night"),
        ("Maria: Thanks", "Maria: Good night"),
        ("- Paid: 20 EUR (Leo)", "- Paid: 30 EUR (Mia)"),
        ("- Dentist is at 9, Leo", "- Dentist is at 10, Mia"),
    ],
)
def test_lines_about_two_people_or_things_are_two_facts(one: str, other: str) -> None:
    assert without_value(one)[0] != without_value(other)[0]
