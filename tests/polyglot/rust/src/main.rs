//! Creates a game of Soda Jerk, places the first card that is legal, and prints the game's id, its version and the tap.

use std::error::Error;

use soda_jerk_move::Action;
use sodafountain::v1::game_service_client::GameServiceClient;
use sodafountain::v1::*;
use tonic::Request;

mod sodafountain {
    pub mod v1 {
        tonic::include_proto!("sodafountain.v1");
    }
}

fn authorized<T>(message: T, token: &str) -> Result<Request<T>, Box<dyn Error>> {
    let mut request = Request::new(message);
    request.metadata_mut().insert("authorization", format!("Bearer {token}").parse()?);
    Ok(request)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let target = std::env::args().nth(1).ok_or("the argument is the address of the service")?;
    let mut service = GameServiceClient::connect(format!("http://{target}")).await?;

    let options = Options { game: Some(options::Game::SodaJerk(SodaJerkOptions::default())) };
    let creation = NewGameRequest { options: Some(options), seat_count: 2, ..Default::default() };
    let created = service.new_game(creation).await?.into_inner();
    let state = created.state.ok_or("no state")?;
    let token = &created.seat_tokens[state.awaiting_seats[0] as usize];

    let question = LegalMovesRequest { game_id: state.game_id.clone(), seat: None };
    let legal = service.legal_moves(authorized(question, token)?).await?.into_inner();
    let Some(r#move::Game::SodaJerk(SodaJerkMove { action: Some(Action::Place(choice)) })) =
        legal.moves[0].r#move.clone().and_then(|found| found.game)
    else {
        return Err("the first legal move places no card".into());
    };
    let tap = choice.tap_flavor();

    let action = Some(Action::Place(choice));
    let request = ApplyMoveRequest {
        game_id: state.game_id.clone(),
        etag: legal.etag,
        r#move: Some(Move { game: Some(r#move::Game::SodaJerk(SodaJerkMove { action })) }),
        ..Default::default()
    };
    let response = service.apply_move(authorized(request, token)?).await?.into_inner();
    println!("{} {} {}", state.game_id, response.committed_version, tap.as_str_name());
    Ok(())
}
